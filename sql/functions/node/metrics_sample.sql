-- Counting queues costs, and every scrape of every node asks. Whoever comes first after the sample has aged counts; the
-- others get the old one meanwhile and never wait.
create or replace function core_node.metrics_sample(p_namespace text, p_max_age interval = '15 s')
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now    timestamptz := core_private.now();
    v_sample jsonb;
begin
    perform core_private.require_duty(p_namespace, 'consume');
    if p_max_age is null or p_max_age < interval '1 s' or p_max_age > interval '1 day' then
        raise exception using errcode = 'NX006', column = 'p_max_age',
            message = format('p_max_age cannot be %s', coalesce(p_max_age::text, 'NULL')),
            hint = 'Give 1 second to 1 day.';
    end if;
    insert into core_private.metric_samples (namespace, sampled_at)
    values (p_namespace, '-infinity')
    on conflict do nothing;
    perform
       from core_private.metric_samples m
      where m.namespace = p_namespace and m.sampled_at <= v_now - p_max_age
        for update skip locked;
    if found then
        v_sample := jsonb_build_object(
            'queues', (
                select coalesce(
                           jsonb_agg(
                               case when t.lost
                                    then jsonb_build_object(
                                        'consumer', c.name, 'lost', true,
                                        'delayed', m.delayed, 'parked', m.parked)
                                    else jsonb_build_object(
                                        'consumer', c.name, 'visible', m.visible, 'in_flight', m.in_flight,
                                        'waiting', m.waiting, 'delayed', m.delayed, 'parked', m.parked,
                                        'oldest_seconds', coalesce(m.oldest_msg_age_seconds, 0)) end
                               order by c.name),
                           '[]')
                  from core.queues q
                  join core.consumers c on c.consumer_id = q.consumer_id
                 cross join lateral core_private.count_queue(q.queue_name) m
                 cross join lateral (select to_regclass(core_private.queue_relation(q.queue_name)) is null as lost) t
                 -- a locked queue has no numbers, which is not the same as none
                 where q.namespace = p_namespace and (m.queue_length is not null or t.lost)),
            'lost_queues', (
                select count(*)
                  from core.queues q
                 where q.namespace = p_namespace and q.dropped_at is null
                   and to_regclass(core_private.queue_relation(q.queue_name)) is null),
            'dead_letters', (
                select count(*)
                  from (
                    select
                      from core.dead_letters d
                     where d.namespace = p_namespace and d.resolved_at is null
                     limit 10001) d),
            'dead_letters_claimed', (
                select count(*)
                  from (
                    select
                      from core.dead_letters d
                     where d.namespace = p_namespace and d.status = 'reprocessing' and d.deadline > v_now
                     limit 10001) d),
            'abandoned_executions', (
                select count(*)
                  from (
                    select
                      from core.abandoned_executions a
                     where a.namespace = p_namespace
                     limit 10001) a),
            'triggers', (
                select jsonb_build_object(
                           'enabled', count(*) filter (where t.enabled),
                           'disabled', count(*) filter (where not t.enabled and not t.held),
                           'held', count(*) filter (where t.held))
                  from core.triggers t
                 where t.namespace = p_namespace),
            'trigger_drops', (
                select count(*)
                  from (
                    select
                      from core.trigger_drops d
                     where d.namespace = p_namespace
                     limit 10001) d),
            'workflows', core_private.workflow_counts(p_namespace),
            'broadcasts', (
                select jsonb_build_object(
                           'lag_seconds', coalesce(extract(epoch from v_now - min(u.oldest)), 0),
                           'missed', sum(c.missed))
                  from core_private.broadcast_cursors c
                  join core.nodes n on n.node_id = c.node_id
                 -- what one that is gone has not read may be much, and nobody waits for it
                  left join lateral core_private.unread_of(
                          case when n.state in ('starting', 'active', 'draining') then c.node_id end) u on true
                 where c.namespace = p_namespace
                having count(*) > 0),
            'lanes', core_private.lanes_sample(p_namespace),
            'lane_partitions', (
                select count(*)
                  from core_private.lane_partitions p
                 where p.xid is not null and p.emptied_at is null),
            'sweeps', (
                select coalesce(
                           jsonb_agg(
                               jsonb_build_object(
                                   'name', s.name, 'failures', s.failures,
                                   'every_seconds', extract(epoch from s.every),
                                   'since', coalesce(s.last_ok_at, s.registered_at))
                               order by s.name),
                           '[]')
                  from core_private.sweeps s
                 where s.enabled));
        update core_private.metric_samples m
           set sampled_at = v_now, sample = v_sample
         where m.namespace = p_namespace;
    end if;
    return (
        select m.sample || jsonb_build_object(
                   'age_seconds', case when isfinite(m.sampled_at) then extract(epoch from v_now - m.sampled_at) end,
                   'sweeps', (
                       select jsonb_agg(
                                  s.sweep || jsonb_build_object(
                                      'age_seconds', extract(epoch from v_now - (s.sweep ->> 'since')::timestamptz))
                                  order by s.n)
                         from jsonb_array_elements(m.sample -> 'sweeps') with ordinality s(sweep, n)))
          from core_private.metric_samples m
         where m.namespace = p_namespace);
end $$;
comment on function core_node.metrics_sample(text, interval) is 'For nodes: the queues of a namespace by consumer (lost: its table is missing), how many queues are lost, its unresolved dead letters, those of them that are claimed, abandoned executions and what triggers dropped (each counted up to 10,001), its triggers by state, its runs of workflows (null: it has no workflow), the lag of its broadcasts (null: no node handles any), its lanes by consumer, how many full partitions of lanes the database keeps, and the sweeps, counted at most once in p_max_age, whoever asks. Raises NX006, NX101, NX401, NX402.';
