-- Whoever ends a branch, or finds it cancelled, changes its run, so the cursors above are locked before its own: the
-- run's, then those between, in the order of everybody.
create or replace function core_private.hold_cursor(
    p_run uuid, p_path text, p_epoch integer, p_token uuid, p_pos integer, p_key text,
    out outcome text, out held core_private.workflow_cursors)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.require_read_committed('a function of a run');
    perform
       from core_private.workflow_cursors c
      where c.run_id = p_run and c.path = any (core_private.path_ancestors(p_path))
      order by c.path
        for update;
    select * into held from core_private.workflow_cursors c where c.run_id = p_run and c.path = p_path;
    outcome := case
        when held.run_id is not null and held.epoch = p_epoch and held.token = p_token and held.state = 'R'
             and held.pos = p_pos
        then case when held.cancel is null then 'ok' else 'cancelled' end
        when core_private.is_committed(held, p_epoch, p_token, p_pos, p_run, p_key) then 'already'
        else 'lost' end;
end $$;
comment on function core_private.hold_cursor(uuid, text, integer, uuid, integer, text) is 'Locks a cursor and those above it, and says whether the caller holds it: ok; cancelled: he does, and the run is to end; already: what he is about to commit is committed; lost.';
