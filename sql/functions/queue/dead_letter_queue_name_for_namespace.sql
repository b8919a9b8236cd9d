-- In PL/pgSQL, whose plan is kept: claims ask.
create or replace function core.dead_letter_queue_name_for_namespace(p_namespace text)
returns text
language plpgsql immutable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return core.queue_name_for_namespace(p_namespace) || '_dlq';
end $$;
comment on function core.dead_letter_queue_name_for_namespace(text) is 'The dead-letter queue of a namespace, by rule, whether registered or not. Raises NX001 for a name that cannot be.';
