-- A step that begins to wait holds its cursor and then looks into the inbox. So a signal has been seen, or who waits
-- for it is found here, or it holds its cursor just now: then the signal is left for the next time.
create or replace function core_private.route_signals(p_namespace text, p_limit integer, p_now timestamptz)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
    v_ids    bigint[];
    v_runs   uuid[];
    v_locked text[];
    v_free   uuid[];
    v_held   uuid[] := '{}';
    v_n      integer := 0;
begin
    -- Signals of runs that somebody holds stay at the head, and are passed over: they are in nobody's way.
    for i in 1..10 loop
        select array_agg(s.signal_id), array_agg(distinct s.run_id)
          into v_ids, v_runs
          from (select x.signal_id, x.run_id
                  from core_private.workflow_signals x
                 where x.namespace = p_namespace and not x.routed and x.run_id <> all (v_held)
                 order by x.signal_id
                 limit p_limit
                   for update skip locked) s;
        exit when v_ids is null;
        -- What came when a run had just gone on as another one is for that.
        update core_private.workflow_signals s
           set run_id = core_private.current_run(s.run_id)
          from core_private.workflow_runs r
         where s.signal_id = any (v_ids) and r.run_id = s.run_id and r.continued_as is not null;
        if found then
            v_runs := array(
                select distinct s.run_id from core_private.workflow_signals s where s.signal_id = any (v_ids));
        end if;
        select coalesce(array_agg(l.run_id || l.path), '{}')
          into v_locked
          from (select c.run_id, c.path
                  from core_private.workflow_cursors c
                 where c.run_id = any (v_runs)
                 order by c.run_id, c.path
                   for update skip locked) l;
        v_free := array(
            select r
              from unnest(v_runs) r
             where not exists (
                 select
                   from core_private.workflow_cursors c
                  where c.run_id = r and c.run_id || c.path <> all (v_locked)));
        v_n := v_n + core_private.end_waits(v_free, null, p_now);
        update core_private.workflow_signals s
           set routed = true
         where s.signal_id = any (v_ids) and s.run_id = any (v_free);
        exit when cardinality(v_free) = cardinality(v_runs);
        v_held := v_held || array(select r from unnest(v_runs) r where r <> all (v_free));
    end loop;
    return v_n;
end $$;
comment on function core_private.route_signals(text, integer, timestamptz) is 'Gives new signals of a namespace, up to p_limit, to the steps that wait for them; how many steps go on.';
