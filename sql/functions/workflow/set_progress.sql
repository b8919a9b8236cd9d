create or replace function core_node.set_progress(p_run uuid, p_token uuid, p_progress jsonb)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := core_private.now();
begin
    if not exists (
           select from core_private.workflow_cursors c where c.run_id = p_run and c.token = p_token) then
        return false;
    end if;
    if octet_length(p_progress::text) > 65536 then
        raise exception using errcode = 'NX601', column = 'p_progress',
            message = format('the progress has %s bytes, at most 65536 are allowed', octet_length(p_progress::text)),
            hint = 'It is for people to look at: keep what is long elsewhere, and say where.';
    end if;
    perform core_private.check_payload(p_progress, 65536);
    update core_private.workflow_runs r set progress = p_progress, updated_at = v_now where r.run_id = p_run;
    return true;
end $$;
comment on function core_node.set_progress(uuid, uuid, jsonb) is 'For nodes: what the code of a run that they hold says about how far it is, up to 64 KB; false if they hold it no more. Raises NX003, NX601.';
