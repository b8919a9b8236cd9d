create or replace function core_private.give_back(
    p_cursor core_private.workflow_cursors, p_due_at timestamptz, p_failed boolean, p_entered integer)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    update core_private.workflow_cursors c
       set token = null, due_at = p_due_at, attempt = c.attempt + p_failed::integer, deaths = 0,
           entered = coalesce(p_entered, c.entered)
     where c.run_id = p_cursor.run_id and c.path = p_cursor.path;
end $$;
comment on function core_private.give_back(core_private.workflow_cursors, timestamptz, boolean, integer) is 'Frees a cursor that the caller holds, until it is due again.';
