create or replace function core_private.max_stored(p_run uuid)
returns integer
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (select n.max_payload_bytes
              from core_private.workflow_runs r
              join core.namespaces n on n.namespace = r.namespace
             where r.run_id = p_run);
end $$;
comment on function core_private.max_stored(uuid) is 'How large what a step of a run returns may be.';
