-- A yield gives the lease back, so the token may be gone.
create or replace function core_private.is_committed(
    p_cursor core_private.workflow_cursors, p_epoch integer, p_token uuid, p_pos integer, p_run uuid, p_key text)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return coalesce(p_cursor.epoch = p_epoch and (p_cursor.token = p_token or p_cursor.token is null), false)
       and p_cursor.pos = p_pos + 1
       and exists (
           select
             from core_private.workflow_journal j
            where j.run_id = p_run and j.key = p_key and j.status = 'c');
end $$;
comment on function core_private.is_committed(core_private.workflow_cursors, integer, uuid, integer, uuid, text) is 'Whether a step that is about to be committed was committed before, under the same lease.';
