create or replace function core.fork_workflow(p_run_id uuid, p_step text, p_options jsonb = '{}')
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now      timestamptz := core_private.now();
    v_run      core_private.workflow_runs := core_private.run_named(p_run_id, '{operate}');
    v_o        record;
    v_old      core_private.workflow_definitions;
    v_def      bigint;
    v_top      integer;
    v_inner    boolean;
    v_entered  integer;
    v_keys     text[];
    v_statuses text[];
    v_fork     uuid;
begin
    if v_run.run_id is null then
        perform core_private.fail_unknown_run(p_run_id);
    end if;
    v_o := core_private.parse_start_options(p_options);
    select * into v_old from core_private.workflow_definitions d where d.def_id = v_run.def_id;
    select n.top, n.depth > 1 or p_step like '%#%'
      into v_top, v_inner
      from core_private.workflow_nodes(v_old.steps) n
     where n.name = split_part(p_step, '#', 1);
    -- Loops and sequences have no row of their own: what they began counts as done.
    if v_top is null or not (case
           when v_inner then exists (
               select from core_private.workflow_journal j where j.run_id = p_run_id and j.key = p_step)
           else v_top = 1 or exists (
               select
                 from core_private.workflow_nodes(v_old.steps) n
                 join core_private.workflow_journal j
                   on split_part(split_part(j.key, '~', 1), '#', 1) = n.name
                where j.run_id = p_run_id
                  and (n.top >= v_top
                       or n.top = v_top - 1
                          and (n.depth = 1 and j.status = 'c' and j.key = n.name
                               or v_old.steps -> (v_top - 2) ->> 'kind' in ('loop', 'sequence'))))
           end) then
        raise exception using errcode = 'NX117', column = 'p_step',
            message = format(case when v_top is null then '%s is no step of workflow %s'
                                  else 'the run has not come to step %s of workflow %s' end,
                             quote_nullable(left(p_step, 100)), v_run.workflow),
            hint = 'Give a key that core.workflow_steps has of the run, or one of: ' || coalesce((
                select string_agg(n.name, ', ' order by n.top)
                  from core_private.workflow_nodes(v_old.steps) n
                 where n.depth = 1), '(it has none)') || '.';
    end if;
    if v_inner then
        v_entered := v_top;
        select array_agg(b.key), array_agg(b.status::text)
          into v_keys, v_statuses
          from core_private.journal_before(p_run_id, v_old.steps, p_step) b;
    else
        v_entered := v_top - 1;
        select array_agg(j.key), array_agg('c'::text)
          into v_keys, v_statuses
          from core_private.workflow_journal j
         where j.run_id = p_run_id and j.status = 'c' and right(j.key, 5) <> '~undo'
           and split_part(j.key, '#', 1) in (
               select n.name from core_private.workflow_nodes(v_old.steps) n where n.top < v_top);
    end if;
    perform core_private.refuse_compensated(p_run_id, coalesce(v_keys, '{}'));
    if v_run.status = 'compensating' then
        raise exception using errcode = 'NX227', column = 'p_run_id',
            message = format('run %s is being undone', p_run_id),
            hint = 'Fork it when it has ended, at a step before all that was undone, or start it anew.';
    end if;
    -- The newest form that begins as the run did.
    v_def := (select d.def_id
                from core_private.workflow_definitions d
               where d.namespace = v_run.namespace and d.name = v_run.workflow
                 and d.prefix_hashes[v_entered + 1] = v_old.prefix_hashes[v_entered + 1]
               order by d.last_registered_at desc, d.def_id desc
               limit 1);
    v_fork := core_private.new_run(
        v_run.namespace, v_run.workflow, v_def, v_run.input, v_now + coalesce(v_o.delay, '0'), v_o.timeout,
        coalesce(v_o.correlation_id, v_run.correlation_id), coalesce(v_o.tags, v_run.tags), v_o.key, v_now,
        p_forked_from => p_run_id, p_entered => v_entered, p_depth => v_run.depth,
        p_causation_uid => coalesce(v_o.causation_uid, v_run.causation_uid), p_traceparent => v_o.traceparent);
    if v_fork is null then
        raise exception using errcode = 'NX226', column = 'idempotency_key',
            message = format('a run of %s has the idempotency key %s',
                             v_run.workflow, quote_literal(left(v_o.key, 100))),
            hint = 'A fork is a new run: give it a key of its own, or none.';
    end if;
    insert into core_private.workflow_journal (
        run_id, key, ord, status, result, attempts, completed_at, undo, inherited)
    select v_fork, j.key, j.ord, k.status::"char", j.result, case k.status when 'c' then j.attempts else 0 end,
           case k.status when 'c' then j.completed_at end, j.undo, true
      from unnest(v_keys, v_statuses) k(key, status)
      join core_private.workflow_journal j on j.run_id = p_run_id and j.key = k.key
     order by j.seq;
    perform core_private.audit('fork_workflow', v_run.namespace, p_run_id::text, null,
        jsonb_build_object('workflow', v_run.workflow, 'step', p_step, 'fork', v_fork));
    return v_fork;
end $$;
comment on function core.fork_workflow(uuid, text, jsonb) is 'Starts a run with the input and the journal of another one, up to one of its steps, which is the first to run; returns its id. p_step is an outermost step that the run has come to, or a key that the journal has: a step inside of a container, of a turn or an item. A run that is being undone is refused; one that goes on may still undo what the fork rests on, if it fails later. Other branches and items keep what they have done. What it inherits it never undoes. Options as core.start_workflow. Raises NX004, NX005, NX117, NX226, NX227, NX401, NX402.';
