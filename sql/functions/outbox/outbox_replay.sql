-- What has not ended comes anyway, and so does what has a copy that waits: who asks again since an answer was lost gets
-- nothing twice. What is dead comes when its dead letter is replayed, and it may then be corrected: so the body is that
-- of the newest copy. It goes to the end of the lanes of now: what is behind a message has been handled
-- after it once, and is again.
create or replace function core.outbox_replay(
    p_namespace text, p_queue text, p_from timestamptz, p_reason text = null)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now    timestamptz := core_private.now();
    v_queue  record;
    v_ids    integer[];
    v_sent   bigint;
begin
    perform core_private.require_duty(p_namespace, 'operate');
    -- Of two at once, one sees what the other has sent.
    select * into v_queue from core_private.outbox_named(p_namespace, p_queue, true);
    if p_from is null then
        raise exception using errcode = 'NX006', column = 'p_from', message = 'p_from cannot be NULL',
            hint = 'Give a time, or ''-infinity'' for all that is left.';
    end if;
    v_ids := array(
        select l.lane_id from core_private.consumer_lanes l where l.consumer_id = v_queue.consumer_id);
    if exists (
        select
          from unnest(v_ids) u(id)
         cross join lateral core_private.lane_now(u.id) n
         where core_private.of_another_server(n, core_private.cluster_id())) then
        perform core_private.fail_foreign_lane(p_queue);
    end if;
    perform pg_current_xact_id(); -- before an id is drawn
    with span as materialized (
        select m.lane_id, m.id, coalesce(core_private.header_number(m.headers, 'nexus-copy-of'), m.id) as root,
               pg_visible_in_snapshot(m.xid, n.done)
               or n.cur is not null and m.id <= n.pos and pg_visible_in_snapshot(m.xid, n.cur) as is_over
          from unnest(v_ids) u(id)
         cross join lateral core_private.lane_now(u.id) n
          join core_private.lane_messages m on m.lane_id = u.id
         where m.created_at >= p_from),
    dead as materialized (
        select d.msg_id as id
          from core.dead_letters d
         where d.namespace = p_namespace and d.consumer = p_queue and d.source_kind = 'lane'
           and d.resolved_at is null),
    newest as materialized (
        select s.root, max(s.id) as id, (array_agg(s.lane_id order by s.id desc))[1] as lane_id
          from span s
         group by s.root
        having bool_and(s.is_over and s.id not in (select x.id from dead x where x.id is not null))),
    ended as materialized (
        select n.root, m.key, m.body, m.body_type
          from newest n
          join core_private.lane_messages m on m.lane_id = n.lane_id and m.id = n.id
         order by n.root),
    drawn as materialized (
        select e.*, nextval('core_private.lane_message_id_seq') as id
          from ended e),
    sent as (
        insert into core_private.lane_messages (lane_id, id, xid, key, body, body_type, headers, created_at)
        select core_private.lane_of(v_queue.lane_ids, d.key, d.id),
               d.id, pg_current_xact_id(), d.key, d.body, d.body_type,
               jsonb_build_object('nexus-copy-of', d.root), v_now
          from drawn d
        returning 1)
    select count(*) into v_sent from sent;
    perform core_private.audit('outbox_replay', p_namespace, p_queue, p_reason,
        jsonb_build_object(
            'from', case when isfinite(p_from) then core_private.iso(p_from) else p_from::text end,
            'messages', v_sent));
    perform core_private.wake(core_private.outbox_key(p_namespace, p_queue), v_now);
    return v_sent;
end $$;
comment on function core.outbox_replay(text, text, timestamptz, text) is 'Enqueues again what was enqueued to an outbox queue from a time on and has ended, in its order and under new ids, and returns how many messages that are. A message and its copies by earlier replays, of it or of its dead letter, count as one, which is left out while one of them waits or is dead and not resolved: so replaying again does not multiply, and dead messages are replayed as dead letters. Those of a partition that has been dropped, and of lanes that were cut anew since, are gone. Events of an ordered consumer: core.replay_events. Raises NX006, NX101, NX115, NX401, NX402, NX509.';
