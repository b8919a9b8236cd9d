create or replace function core.replay_dead_letters(p_filter jsonb, p_options jsonb = '{}')
returns table (matched integer, done integer, skipped integer, last_id bigint, skips jsonb)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now   timestamptz := core_private.now();
    v_ids   bigint[];
    v_done  bigint[];
    v_max   integer;
    v_dry   boolean;
    v_gap   interval;
    v_first timestamptz;
    v_name  text;
begin
    perform core_private.check_option_keys(p_options, array['payload', 'dry_run', 'rate', 'delay']);
    if jsonb_typeof(p_options -> 'dry_run') <> 'boolean' then
        perform core_private.fail_option('dry_run', p_options -> 'dry_run', 'Give true or false.');
    end if;
    v_dry := coalesce((p_options ->> 'dry_run')::boolean, false);
    if p_options ? 'rate' then
        if not coalesce(jsonb_path_exists(p_options,
            'strict $.rate ? (@.type() == "number" && @ >= 0.001 && @ <= 100000)'), false) then
            perform core_private.fail_option('rate', p_options -> 'rate', 'Give events a second, 0.001 to 100000.');
        end if;
        v_gap := interval '1 second' / (p_options ->> 'rate')::double precision;
    end if;
    if p_options ? 'delay' then
        v_first := v_now + core_private.parse_interval(p_options -> 'delay', 'delay', '0', '30 days');
    end if;
    if p_options ? 'payload' then
        if jsonb_typeof(p_filter -> 'ids') is distinct from 'array'
           or jsonb_array_length(p_filter -> 'ids') <> 1 then
            perform core_private.fail_option('payload', '"…"', 'An edited payload needs a filter with one id.');
        end if;
        select min(n.max_payload_bytes)
          into v_max
          from core.namespaces n
          join core.dead_letters l on l.namespace = n.namespace
         where l.dead_letter_id = case when p_filter -> 'ids' ->> 0 ~ '^[0-9]{1,18}$'
                                       then (p_filter -> 'ids' ->> 0)::bigint end;
        perform core_private.check_payload(p_options -> 'payload', coalesce(v_max, 8388608), 'payload');
    end if;
    v_ids := array(select l.dead_letter_id from core_private.filter_dead_letters(p_filter) l);
    matched := cardinality(v_ids);
    select max(i) into last_id from unnest(v_ids) i;
    if v_gap * greatest(matched - 1, 0) > interval '30 days' then
        perform core_private.fail_option('rate', p_options -> 'rate',
            format('%s events at this rate would take more than 30 days; raise it, or lower the limit.', matched));
    end if;
    -- One after another, since what is put off becomes seen when it commits: a killed caller's last batch, too.
    if v_gap is not null and not v_dry then
        for v_name in
            select distinct l.namespace from core.dead_letters l where l.dead_letter_id = any (v_ids) order by 1
        loop
            perform pg_advisory_xact_lock(hashtextextended('nexus replay ' || v_name, 0));
            v_first := greatest(v_first, core_private.last_put_off(v_name) + v_gap);
        end loop;
        if v_first + v_gap * greatest(matched - 1, 0) > v_now + interval '60 days' then
            perform core_private.fail_option('rate', p_options -> 'rate',
                format('Earlier replays have the namespace busy until %s; raise it, or wait.', v_first));
        end if;
    end if;
    -- Really done, then undone: a dry run fails where the real one would.
    begin
        v_done := array(
            select r.dead_letter_id
              from core_private.replay(v_ids, p_options -> 'payload', v_first, v_gap) r);
        perform core_private.audit('replay_dead_letters', l.namespace, null, null,
                    jsonb_build_object('filter', p_filter, 'options', p_options, 'done', count(*),
                        'before', jsonb_build_object('unresolved', count(*)),
                        'after', jsonb_build_object('replayed', count(*))))
           from core.dead_letters l
          where l.dead_letter_id = any (v_done)
          group by l.namespace;
        if v_dry then
            raise exception using errcode = 'NXDRY', message = 'dry run';
        end if;
    exception when sqlstate 'NXDRY' then
        null;
    end;
    done := cardinality(v_done);
    skipped := matched - done;
    select coalesce(jsonb_agg(jsonb_build_object('why', s.why, 'count', s.n, 'ids', s.ids)
                              order by s.n desc, s.why), '[]')
      into skips
      from (select w.why, count(*) as n, (array_agg(i.id order by i.id))[1:10] as ids
              from (select l.source_kind, l.namespace, l.consumer, array_agg(l.dead_letter_id) as ids
                      from core.dead_letters l
                     where l.dead_letter_id = any (v_ids) and l.dead_letter_id <> all (v_done)
                     group by l.source_kind, l.namespace, l.consumer) g
             cross join lateral (
                 select coalesce(core_private.why_not_replayed(g.source_kind, g.namespace, g.consumer, g.ids),
                                 'its source is gone') as why) w
             cross join lateral unnest(g.ids) i(id)
             group by w.why) s;
    return next;
end $$;
comment on function core.replay_dead_letters(jsonb, jsonb) is 'Delivers dead letters again, attempts starting afresh, and resolves them as replayed. Those that somebody holds a claim on are passed over. Filter: namespace, ids, source, type, reason, before, after, after_id, limit (1,000). Options: payload (edited, one id only), dry_run, rate (events a second: they become due one after another, promoted each second, and behind what replays still have waiting in their namespace), delay (before the first). Scheduled events are due again at once. skips says why some were left, with the first ten ids of each reason. last_id as after_id goes on behind this batch. Raises NX003, NX004, NX005, NX008, NX009, NX101, NX401, NX402, NX601.';
