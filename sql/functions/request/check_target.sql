create or replace function core_private.check_target(p_target text)
returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_key text := case when p_target ~ '^(go|sql|webhook|workflow):' then p_target else 'go:' || p_target end;
begin
    perform core_private.check_handler_key(v_key, 'p_target');
    return v_key;
end $$;
comment on function core_private.check_target(text) is 'The key of the handler that the target of a request means: go: unless it says otherwise. Raises NX006.';
