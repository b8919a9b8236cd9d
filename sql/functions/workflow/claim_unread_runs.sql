-- What core_node.claim_runs gives is one value for each journal, and there are journals that no value can hold, and
-- rows that cannot be read. Nothing of the kind is read here, so such a run keeps nobody from others. All that goes
-- before a claim is done here as there, where it is undone with the claim that fails.
create or replace function core_node.claim_unread_runs(
    p_namespace text, p_defs bigint[], p_node text, p_limit integer, p_lease interval)
returns table (
    run_id uuid, path text, def_id bigint, epoch integer, token uuid, pos integer, attempt integer, deaths integer,
    state text, undo_key text, workflow text, input jsonb, depth integer, correlation_id text, created_at timestamptz,
    results jsonb, pending jsonb, failed jsonb, traceparent text, due_at timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_now   timestamptz;
    v_left  integer := p_limit;
    v_took  integer;
    v_runs  uuid[];
    v_paths text[];
    v_def   record;
    v_odd   record;
begin
    perform core_private.require_duty(p_namespace, 'consume');
    perform core_private.check_number(p_limit, 'p_limit', 1, 1000);
    perform core_private.check_lease(p_lease);
    perform core_private.require_read_committed('core_node.claim_unread_runs');
    v_now := core_private.now();
    perform core_private.route_signals(p_namespace, 200, v_now);
    select array_agg(x.run_id) as runs, array_agg(x.path) as paths
      into v_odd
      from (select c.run_id, c.path
              from core_private.workflow_definitions d
              join core_private.workflow_cursors c on c.def_id = d.def_id and c.due_at <= v_now
             where d.def_id = any (p_defs) and d.namespace = p_namespace
               and (c.state in ('T', 'W') or c.cancel is not null or c.deaths >= 5)
             order by c.due_at, c.run_id
             limit p_limit
               for update of c skip locked) x;
    if v_odd.runs is not null then
        perform core_private.end_due_runs(v_odd.runs, v_odd.paths, v_now);
    end if;
    for v_def in
        select d.def_id, d.concurrency
          from core_private.workflow_definitions d
         where d.def_id = any (p_defs) and d.namespace = p_namespace
         order by d.def_id
    loop
        if v_def.concurrency is not null then
            select l.runs, l.paths
              into v_runs, v_paths
              from core_private.runs_within_limit(
                  v_def.def_id, v_left, v_now, '-infinity', '00000000-0000-0000-0000-000000000000') l;
            continue when v_runs is null;
        end if;
        return query
            update core_private.workflow_cursors c
               set epoch = c.epoch + 1, token = gen_random_uuid(), node_id = left(p_node, 200),
                   due_at = v_now + p_lease, plain_bytes = 0,
                   deaths = c.deaths + (c.token is not null)::integer
              from (select x.run_id, x.path, x.due_at
                      from core_private.workflow_cursors x
                     where x.def_id = v_def.def_id and x.due_at <= v_now and x.state in ('R', 'U') and x.cancel is null
                       and (x.deaths < 5 or exists (
                           select
                             from unnest(v_odd.runs, v_odd.paths) o(run_id, path)
                            where o.run_id = x.run_id and o.path = x.path))
                       and (v_def.concurrency is null or exists (
                           select
                             from unnest(v_runs, v_paths) l(run_id, path)
                            where l.run_id = x.run_id and l.path = x.path))
                     order by x.due_at, x.run_id
                     limit v_left
                       for update skip locked) u
              join core_private.workflow_runs w on w.run_id = u.run_id
             where c.run_id = u.run_id and c.path = u.path
            returning c.run_id, c.path, c.def_id, c.epoch, c.token, c.pos, c.attempt, c.deaths,
                      case c.state when 'U' then 'undo' else 'run' end, case c.state when 'U' then c.wait_key end,
                      w.workflow, null::jsonb, w.depth, w.correlation_id, w.created_at, null::jsonb, null::jsonb,
                      null::jsonb, w.traceparent, u.due_at;
        get diagnostics v_took = row_count;
        v_left := v_left - v_took;
        exit when v_left <= 0;
    end loop;
end $$;
comment on function core_node.claim_unread_runs(text, bigint[], text, integer, interval) is 'For nodes: core_node.claim_runs for when that raises what one of the runs is the reason for, such as 54000 where its journal is larger than a value can be. Leases up to p_limit runs that are due, the oldest first, with input, results, pending and failed as NULL: core_node.read_run has them, run by run. Raises 55000 unless the transaction is read committed, NX006, NX101, NX401, NX402.';
