-- Definitions take turns by lot, so that a flood of one holds up no other for good. Whoever is given a cursor has a
-- token that nobody else ever had: a claim whose commit was lost may be given again with the same epoch. Plans are made
-- once, and go by the index of what is due, whatever is in the tables just then. What was claimed leaves an entry there
-- until vacuum, and while somebody holds a snapshot each look from the beginning walks over all of them: so most begin
-- where the one before has ended, but a second behind the clock, for what was committed late. Of one definition what
-- is due is leased by the statement that locks it, but for what ends by being due, which is looked at where less was
-- found: a cursor that has changed since that statement began is not found by its place, so its journal is never of
-- before.
create or replace function core_node.claim_runs(
    p_namespace text, p_defs bigint[], p_node text, p_limit integer, p_lease interval,
    p_from_dues timestamptz[] = null, p_from_runs uuid[] = null)
returns table (
    run_id uuid, path text, def_id bigint, epoch integer, token uuid, pos integer, attempt integer, deaths integer,
    state text, undo_key text, workflow text, input jsonb, depth integer, correlation_id text, created_at timestamptz,
    results jsonb, pending jsonb, failed jsonb, traceparent text, due_at timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
    v_now        timestamptz;
    v_restricted boolean;
    v_signals    boolean;
    v_plain      integer;
    v_left       integer := p_limit;
    v_take       integer;
    v_runs       uuid[] := '{}';
    v_paths      text[] := '{}';
    v_dues       timestamptz[] := '{}';
    v_odd        boolean := false;
    v_some       record;
    v_def        record;
    v_one        bigint;
    v_from       timestamptz;
    v_behind     uuid;
begin
    select n.restricted, least(n.max_payload_bytes / 64, 2000),
           exists (select from core_private.workflow_signals s where s.namespace = p_namespace and not s.routed),
           (select d.def_id
              from core_private.workflow_definitions d
             where d.def_id = p_defs[1] and d.namespace = p_namespace and d.concurrency is null
               and cardinality(p_defs) = 1)
      into v_restricted, v_plain, v_signals, v_one
      from core.namespaces n
     where n.namespace = p_namespace;
    -- What passes takes one expression.
    if (found and not v_restricted and core_private.is_plainly('nexus_consumer')
        and p_limit between 1 and 1000 and p_lease > interval '0' and p_lease <= interval '1 day'
        and current_setting('transaction_isolation') = 'read committed') is not true then
        perform core_private.require_duty(p_namespace, 'consume');
        perform core_private.check_number(p_limit, 'p_limit', 1, 1000);
        perform core_private.check_lease(p_lease);
        perform core_private.require_read_committed('core_node.claim_runs');
    end if;
    v_now := core_private.now();
    if v_signals then
        perform core_private.route_signals(p_namespace, 200, v_now);
    end if;
    if v_one is not null then
        v_from := least(coalesce(p_from_dues[1], '-infinity'), v_now - interval '1 second');
        v_behind := case when p_from_dues[1] < v_now - interval '1 second' then p_from_runs[1]
                         else '00000000-0000-0000-0000-000000000000' end;
        return query
            update core_private.workflow_cursors c
               set epoch = c.epoch + 1, token = gen_random_uuid(), node_id = left(p_node, 200),
                   due_at = v_now + p_lease, plain_bytes = v_plain,
                   deaths = c.deaths + (c.token is not null)::integer
              from (select x.ctid, x.run_id, x.due_at
                      from core_private.workflow_cursors x
                     where x.def_id = v_one and x.due_at <= v_now and (x.due_at, x.run_id) >= (v_from, v_behind)
                     order by x.due_at, x.run_id
                     limit p_limit
                       for update skip locked) u
              join core_private.workflow_runs w on w.run_id = u.run_id
             cross join lateral (
                 select coalesce(jsonb_object_agg(y.key, y.result) filter (where y.status = 'c'), '{}') as results,
                        coalesce(jsonb_object_agg(y.key, y.result) filter (where y.status = 'p'), '{}') as pending,
                        coalesce(jsonb_object_agg(y.key, y.error) filter (where y.status = 'f'), '{}') as failed
                   from core_private.workflow_journal y
                  where y.run_id = u.run_id) j
             where c.ctid = u.ctid and c.state in ('R', 'U') and c.cancel is null
               and c.deaths < 5
            returning c.run_id, c.path, c.def_id, c.epoch, c.token, c.pos, c.attempt, c.deaths,
                   case c.state when 'U' then 'undo' else 'run' end, case c.state when 'U' then c.wait_key end,
                   w.workflow, w.input, w.depth, w.correlation_id, w.created_at, j.results, j.pending, j.failed,
                   w.traceparent, u.due_at;
        get diagnostics v_take = row_count;
        v_left := p_limit - v_take;
        if v_left = 0 or not exists (
               select
                 from core_private.workflow_cursors c
                where c.def_id = v_one and c.due_at <= v_now and (c.due_at, c.run_id) >= (v_from, v_behind)) then
            return;
        end if;
    end if;
    for v_def in
        select d.def_id, d.concurrency, least(coalesce(x.due, '-infinity'), v_now - interval '1 second') as due,
               case when x.due < v_now - interval '1 second' then x.run_id
                    else '00000000-0000-0000-0000-000000000000' end as run_id
          from unnest(p_defs, p_from_dues, p_from_runs) x(def_id, due, run_id)
          join core_private.workflow_definitions d on d.def_id = x.def_id and d.namespace = p_namespace
         order by random()
    loop
        if v_def.concurrency is not null then
            select *
              into v_some
              from core_private.runs_within_limit(v_def.def_id, v_left, v_now, v_def.due, v_def.run_id);
        else
            select array_agg(x.run_id) as runs, array_agg(x.path) as paths, array_agg(x.due_at) as dues,
                   bool_or(x.odd) as odd
              into v_some
              from (select c.run_id, c.path, c.due_at,
                           c.state in ('T', 'W') or c.cancel is not null or c.deaths >= 5 as odd
                      from core_private.workflow_cursors c
                     where c.def_id = v_def.def_id and c.due_at <= v_now
                       and (c.due_at, c.run_id) >= (v_def.due, v_def.run_id)
                     order by c.due_at, c.run_id
                     limit v_left
                       for update skip locked) x;
        end if;
        continue when v_some.runs is null;
        v_runs := v_runs || v_some.runs;
        v_paths := v_paths || v_some.paths;
        v_dues := v_dues || v_some.dues;
        v_odd := v_odd or v_some.odd;
        v_left := v_left - cardinality(v_some.runs);
        exit when v_left <= 0;
    end loop;
    if v_runs = '{}' then
        return;
    end if;
    if v_odd then
        perform core_private.end_due_runs(v_runs, v_paths, v_now);
    end if;
    return query
        with leased as (
            update core_private.workflow_cursors c
               set epoch = c.epoch + 1, token = gen_random_uuid(), node_id = left(p_node, 200),
                   due_at = v_now + p_lease, plain_bytes = v_plain,
                   deaths = c.deaths + (c.token is not null)::integer
              from unnest(v_runs, v_paths, v_dues) u(run_id, path, due)
             where c.run_id = u.run_id and c.path = u.path and c.state in ('R', 'U') and c.due_at <= v_now
               and c.cancel is null
            returning c.run_id, c.path, c.def_id, c.epoch, c.token, c.pos, c.attempt, c.deaths, c.state, c.wait_key,
                      u.due)
        select l.run_id, l.path, l.def_id, l.epoch, l.token, l.pos, l.attempt, l.deaths,
               case l.state when 'U' then 'undo' else 'run' end, case l.state when 'U' then l.wait_key end,
               w.workflow, w.input, w.depth, w.correlation_id, w.created_at, j.results, j.pending, j.failed,
               w.traceparent, l.due
          from leased l
          join core_private.workflow_runs w on w.run_id = l.run_id
         cross join lateral (
             select coalesce(jsonb_object_agg(x.key, x.result) filter (where x.status = 'c'), '{}') as results,
                    coalesce(jsonb_object_agg(x.key, x.result) filter (where x.status = 'p'), '{}') as pending,
                    coalesce(jsonb_object_agg(x.key, x.error) filter (where x.status = 'f'), '{}') as failed
               from core_private.workflow_journal x
              where x.run_id = l.run_id) j;
end $$;
comment on function core_node.claim_runs(text, bigint[], text, integer, interval, timestamptz[], uuid[]) is 'For nodes: leases up to p_limit runs, or branches of runs, that are due and whose definition is one of p_defs, with all that their journals hold. The caller commits before it lets anything run. (run_id, path, epoch, token) is the fence, pos how many steps the cursor has committed, attempt how often the step in hand has failed, deaths how often a process died in it: from the fifth on one such cursor of a definition is given at a time, and at the eleventh it is parked. state is run, or undo for the compensation of undo_key, due_at since when it was due (of a workflow with a limit not later than what stayed). p_from_dues and p_from_runs, one of each definition, are due_at and run_id of the last that the caller was given: what was due before is looked at again, where it was due within a second, else not, so now and then a claim without them is to be made. Signals that have come are given to who waits for them, and sleeps and waits whose time is over are ended, first. Raises 55000 unless the transaction is read committed, NX006, NX101, NX401, NX402.';
