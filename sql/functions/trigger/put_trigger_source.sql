create or replace function core_private.put_trigger_source(
    p_trigger_id uuid, p_namespace text, p_kind text, p_source jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    execute format('select core_private.put_%s_source($1, $2, $3)', p_kind) using p_trigger_id, p_namespace, p_source;
end $$;
comment on function core_private.put_trigger_source(uuid, text, text, jsonb) is 'Keeps the details of a trigger, in place of those that it had.';
