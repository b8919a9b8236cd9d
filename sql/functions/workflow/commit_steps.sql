-- The cursor is updated and the journal written by two statements: who waited for a cursor goes by what it is now, and
-- a single statement would go by what it was. Many at once lock what they can get; what somebody has is busy and comes
-- again, so that groups never wait for one another. What does not fit is looked at closely, one by one. Each cursor is
-- looked up by itself and by its key: a plan from a time when few were leased goes through all that are. The index of
-- those is not to be used, so the token is compared in a way that does not imply that there is one.
create or replace function core_node.commit_steps(
    p_runs uuid[], p_paths text[], p_epochs integer[], p_tokens uuid[], p_pos integer[], p_entered integer[],
    p_keys text[], p_ords text[], p_results text[], p_undos text[], p_ops text[], p_outputs text[])
returns table (n integer, outcome text, detail text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
    v_now     timestamptz;
    v_many    boolean := cardinality(p_runs) > 1;
    v_took    integer[];
    v_tids    tid[];
    v_first   boolean;
    v_moved   integer;
    v_all     boolean;
    v_close   integer[];
    v_ended   integer[];
    v_results jsonb[];
    v_value   record;
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        perform core_private.require_read_committed('core_node.commit_steps');
    end if;
    v_now := core_private.now();
    if cardinality(p_runs) = 0 or p_runs is null then
        return;
    end if;
    perform core_private.check_commits(
        p_runs, p_paths, p_epochs, p_tokens, p_pos, p_entered, p_keys, p_ords, p_results, p_undos, p_ops, p_outputs);

    -- What cannot be stored is its step's failure, and nobody else's.
    begin
        v_results := p_results::jsonb[];
        perform p_outputs::jsonb[];
    exception when data_exception or program_limit_exceeded then
        v_results := '{}';
    end;

    if v_many then
        select array_agg(l.i), array_agg(l.ctid), bool_and(l.attempt = 0),
               array_agg(l.i) filter (where l.plain is not true or v_results = '{}')
          into v_took, v_tids, v_first, v_close
          from (select x.i, c.ctid, c.attempt,
                       (x.result is null or core_private.is_plain_json(x.result, c.plain_bytes))
                       and (x.output is null or core_private.is_plain_json(x.output, c.plain_bytes)) as plain
                  from unnest(p_runs, p_paths, p_epochs, p_tokens, p_pos, p_results, p_outputs)
                       with ordinality x(run_id, path, epoch, token, pos, result, output, i)
                 cross join lateral (
                     select y.ctid, y.attempt, y.plain_bytes
                       from core_private.workflow_cursors y
                      where y.run_id = x.run_id and y.path = x.path and y.epoch = x.epoch and y.pos = x.pos
                        and y.token is not distinct from x.token and x.token is not null
                        and y.state = 'R' and y.cancel is null
                        for update skip locked) c) l;
    else
        select array[1], array[1], array[c.ctid], false
          into v_took, v_close, v_tids, v_first
          from core_private.workflow_cursors c
         where c.run_id = p_runs[1] and c.path = p_paths[1] and c.epoch = p_epochs[1] and c.pos = p_pos[1]
           and c.token is not distinct from p_tokens[1] and p_tokens[1] is not null
           and c.state = 'R' and c.cancel is null
           for update;
    end if;
    v_all := coalesce(cardinality(v_took) = cardinality(p_runs), false);
    if not v_all or v_close is not null then
        for n in
            select i
              from generate_subscripts(p_runs, 1) i
             where v_took is null or i <> all (v_took) or i = any (v_close)
        loop
            v_value := core_private.stored_value(p_results[n], core_private.max_stored(p_runs[n]));
            v_results[n] := v_value.value;
            if v_value.why is null and p_outputs[n] is not null then
                v_value := core_private.stored_value(p_outputs[n], core_private.max_stored(p_runs[n]));
            end if;
            if v_value.why is not null then
                p_epochs[n] := null;
                outcome := 'too_big';
                detail := v_value.why;
                return next;
            end if;
        end loop;
        select array_agg(t.i), array_agg(t.tid)
          into v_took, v_tids
          from unnest(v_took, v_tids) t(i, tid)
         where p_epochs[t.i] is not null;
    end if;
    detail := null;

    if v_took is not null then
        select array_agg(i order by i) into v_ended from unnest(v_took) i where p_ops[i] in ('end', 'again');
        update core_private.workflow_cursors c
           set pos = c.pos + 1, entered = p_entered[t.i], attempt = 0, deaths = 0,
               token = case when p_ops[t.i] = 'yield' then null else c.token end,
               due_at = case when p_ops[t.i] = 'yield' then v_now else c.due_at end
          from unnest(v_took, v_tids) t(i, tid)
         where p_ops[t.i] in ('next', 'yield') and c.ctid = t.tid;
        get diagnostics v_moved = row_count;
        if v_moved <> cardinality(v_took) - coalesce(cardinality(v_ended), 0) then
            raise exception using errcode = '40001', column = 'p_runs',
                message = format('%s of %s cursors are where they were', v_moved, cardinality(v_took)),
                hint = 'Send the steps again.';
        end if;
        -- To look for a row that may be there costs as much as to write one, and of a step that never failed none is.
        if v_first then
            begin
                insert into core_private.workflow_journal (run_id, key, ord, status, result, completed_at, undo)
                select p_runs[i], p_keys[i], p_ords[i]::integer[], 'c', v_results[i], v_now, p_undos[i]::jsonb
                  from unnest(v_took) i
                 where p_keys[i] is not null;
            exception when unique_violation then
                v_first := false;
            end;
        end if;
        if not v_first then
            insert into core_private.workflow_journal as j (run_id, key, ord, status, result, completed_at, undo)
            select p_runs[i], p_keys[i], p_ords[i]::integer[], 'c', v_results[i], v_now, p_undos[i]::jsonb
              from unnest(v_took) i
             where p_keys[i] is not null
            on conflict (run_id, key) do update
               set status = 'c', result = excluded.result, error = null, attempts = j.attempts + 1,
                   completed_at = excluded.completed_at, undo = coalesce(excluded.undo, j.undo);
        end if;
        if v_ended is not null then
            return query
                select e.n, 'ok', e.detail
                  from core_private.end_runs(v_ended, p_runs, p_ops, p_outputs, v_now) e;
        end if;
        return query
            select i, 'ok', null::text from unnest(v_took) i where p_ops[i] not in ('end', 'again');
    end if;
    if v_all then
        return;
    end if;
    for n in
        select i
          from generate_subscripts(p_runs, 1) i
         where p_epochs[i] is not null and (v_took is null or i <> all (v_took))
         order by p_runs[i], p_paths[i]
    loop
        select x.outcome, x.detail
          into outcome, detail
          from core_private.commit_refused(
                   p_runs[n], p_paths[n], p_epochs[n], p_tokens[n], p_pos[n], p_keys[n], p_ords[n], v_results[n],
                   p_undos[n], p_ops[n], v_many, v_now) x;
        return next;
    end loop;
end $$;
comment on function core_node.commit_steps(uuid[], text[], integer[], uuid[], integer[], integer[], text[], text[], text[], text[], text[], text[]) is 'For nodes: commits steps of runs that they hold, each by its fence and the number of steps that were committed before. p_ops: next (the lease goes on), yield (it is given back), end (the run ends, p_outputs has its result), again (it ends, and another one begins with p_outputs; detail is its id); with end and again p_keys may be NULL: nothing is journaled. Results, outputs and undos are JSON. Outcomes, a row each: ok; already (committed before, by the same call); lost; busy (of several: somebody has the cursor just now, send it again); cancelled (the step is journaled, and the run ends); too_big (it cannot be stored, detail says why, and nothing is committed). Raises 55000 unless the transaction is read committed, NX006.';
