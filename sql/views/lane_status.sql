create or replace view core.lane_status with (security_barrier = true) as
select c.namespace, c.name as queue, l.lane, l.lane_id, l.state, l.seq,
       least(l.pending, 10000) as lag, l.pending > 10000 as lag_is_more,
       case when l.oldest is not null then greatest(core.now() - l.oldest, '0') end as lag_time,
       l.attempts, l.last_error, l.blocked_since,
       case when c.state <> 'active' then format('the %s is %s', x.name, c.state)
            when l.foreign_server then 'restored: core.lanes_rebase() has to run'
            when l.state = 'halted' then 'halted at message ' || l.seq + 1
            when l.state = 'paused' then 'paused'
            when l.pending > 0 and not l.waits and l.oldest < u.before and l.next_at < u.before
                 and (l.locked_until < u.before) is not false
            then 'no live node works the queue'
            when l.attempts > 0 then format('message %s failed', l.seq + 1)
            when l.suspect_until > l.seq then format('one of %s to %s failed', l.seq + 1, l.suspect_until)
            when l.waits and b.consumer_id is not null then 'waits for the log'
            when l.waits then 'waits for the lanes of before'
            when c.kind = 'ordered' and l.pending > 0 and (l.locked_until <= core.now()) is not false
            then 'no live node handles ' || core_private.without_handler(c.consumer_id, l.lane_id) end as why,
       case when l.next_at > core.now() then l.next_at end as next_at,
       case when l.locked_until > core.now() then l.locked_by end as locked_by,
       case when l.locked_until > core.now() then l.locked_until end as locked_until,
       l.generation
  from core.consumers c
 cross join lateral (select case c.kind when 'ordered' then 'consumer' else 'queue' end as name) x
  left join lateral (
    select c.consumer_id from core_private.backfills_of(c.consumer_id) f where f.state <> 'done') b on true
 cross join lateral core_private.unworked_before(c.consumer_id) u(before)
 cross join lateral core_private.lane_states(c.consumer_id, 10001) l
 where c.kind in ('outbox', 'ordered')
   and c.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.lane_status is 'One row a lane of an outbox queue or an ordered consumer: how far it is, how far behind, who holds it, and why it does not go on.';
comment on column core.lane_status.namespace is 'The namespace of the queue.';
comment on column core.lane_status.queue is 'The outbox queue or the consumer.';
comment on column core.lane_status.lane is 'The lane, from 0 on.';
comment on column core.lane_status.lane_id is 'Its number in this database.';
comment on column core.lane_status.state is 'active; paused: by core.lane_pause; halted: its next message has used up its attempts.';
comment on column core.lane_status.seq is 'How many of its messages have ended.';
comment on column core.lane_status.lag is 'How many have not, counted to 10,000.';
comment on column core.lane_status.lag_is_more is 'Whether there are more than 10,000.';
comment on column core.lane_status.lag_time is 'How long ago the oldest of these was enqueued; NULL: there is none.';
comment on column core.lane_status.attempts is 'How often the next message has failed.';
comment on column core.lane_status.last_error is 'Of the last failure, while it is not overcome.';
comment on column core.lane_status.blocked_since is 'When the lane was last stopped by a failure or a pause that is not over; NULL: it goes on.';
comment on column core.lane_status.why is 'What keeps it; NULL: nothing.';
comment on column core.lane_status.next_at is 'When the next attempt is due; NULL: now.';
comment on column core.lane_status.locked_by is 'The node that holds it; NULL: nobody does.';
comment on column core.lane_status.locked_until is 'When that lease ends, unless it is renewed.';
comment on column core.lane_status.generation is 'Grows when lanes are cut anew; those of before have to end first.';
