-- A definer: whoever may call it could not reach the rule in core_private.
create or replace function core.queue_name_for_namespace(p_namespace text)
returns text
language plpgsql immutable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.check_namespace_name(p_namespace);
    return 'core_events_' || replace(p_namespace, '-', '_');
end $$;
comment on function core.queue_name_for_namespace(text) is 'The main queue of a namespace, by rule, whether registered or not. Raises NX001 for a name that cannot be.';
