create or replace function core_private.journal_step(
    p_run uuid, p_key text, p_ord integer[], p_status "char", p_result jsonb, p_error jsonb, p_attempts integer,
    p_undo jsonb, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into core_private.workflow_journal as j (
        run_id, key, ord, status, result, error, attempts, completed_at, undo)
    values (
        p_run, p_key, p_ord, p_status, p_result, p_error, p_attempts, case when p_status <> 'p' then p_now end, p_undo)
    on conflict (run_id, key) do update
       set status = excluded.status, result = excluded.result, error = excluded.error,
           attempts = greatest(excluded.attempts, j.attempts + (excluded.status = 'c')::integer),
           completed_at = excluded.completed_at, undo = coalesce(excluded.undo, j.undo)
     where j.status <> 'c';
end $$;
comment on function core_private.journal_step(uuid, text, integer[], "char", jsonb, jsonb, integer, jsonb, timestamptz) is 'Writes what became of a step, in place of what was pending.';
