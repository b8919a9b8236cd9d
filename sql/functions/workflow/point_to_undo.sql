-- The caller holds the cursor of the run. p_hold: under the lease that he has.
create or replace function core_private.point_to_undo(
    p_run uuid, p_hold boolean, p_now timestamptz, out key text, out in_sql boolean)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_next record;
begin
    select * into v_next from core_private.next_undo(p_run);
    key := v_next.key;
    if key is null then
        return;
    end if;
    in_sql := v_next.undo ->> 'kind' = 'sql';
    update core_private.workflow_cursors c
       set state = case when in_sql then 'S' else 'U' end, wait_key = v_next.key, wait_ord = v_next.ord,
           attempt = 0, deaths = 0, waiting_for = null, open = 0, next_item = null, items = null, failed = 0,
           cancel = null,
           token = case when p_hold and not in_sql then c.token end,
           due_at = case when in_sql then null when p_hold then c.due_at else p_now end,
           sql_due_at = case when in_sql then p_now end
     where c.run_id = p_run and c.path = '';
end $$;
comment on function core_private.point_to_undo(uuid, boolean, timestamptz) is 'Has the cursor of a run stand at the next step to undo: its key, NULL if there is none, and whether that is undone in SQL.';
