create or replace view core.broadcast_cursors with (security_barrier = true) as
select c.namespace, c.node_id, n.state, c.patterns, u.unread, u.oldest as oldest_unread_at,
       case when u.unread > 0 then (select core.now()) - u.oldest else interval '0' end as lag,
       c.taken_id as in_hand, c.taken_at as in_hand_since, u.retrying, u.next_due as next_retry_at,
       c.last_error, c.last_error_at, c.missed, c.missed_at, c.reset_at, c.reset_reason, c.began_at, c.moved_at
  from core_private.broadcast_cursors c
  join core.nodes n on n.node_id = c.node_id
 cross join lateral core_private.unread_of(c.node_id) u
 where c.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.broadcast_cursors is 'One row a node that handles broadcasts: how far it has read, and what it waits for.';
comment on column core.broadcast_cursors.namespace is 'The namespace of the node.';
comment on column core.broadcast_cursors.node_id is 'The node. Its cursor outlives its restarts and goes when the node is removed, seven days after it stopped or was lost, or keep_broadcasts if that is longer.';
comment on column core.broadcast_cursors.state is 'State of the node.';
comment on column core.broadcast_cursors.patterns is 'Types whose broadcasts it handles; none: it registered without handlers of broadcasts.';
comment on column core.broadcast_cursors.unread is 'Broadcasts of these types that it has not handled yet, counted up to 1,000. The one in hand is among them.';
comment on column core.broadcast_cursors.oldest_unread_at is 'When the oldest of those was emitted.';
comment on column core.broadcast_cursors.lag is 'How long ago that was; 0 where nothing is unread.';
comment on column core.broadcast_cursors.in_hand is 'broadcast_id of the one that its handlers have.';
comment on column core.broadcast_cursors.in_hand_since is 'Since when.';
comment on column core.broadcast_cursors.retrying is 'Broadcasts that it gets again, after a failure, a release or a replay, counted up to 1,000.';
comment on column core.broadcast_cursors.next_retry_at is 'When the first of those is due.';
comment on column core.broadcast_cursors.last_error is 'Of the last attempt that failed.';
comment on column core.broadcast_cursors.last_error_at is 'When that was.';
comment on column core.broadcast_cursors.missed is 'Broadcasts that were removed by their age before the node had read them.';
comment on column core.broadcast_cursors.missed_at is 'When the last of them was.';
comment on column core.broadcast_cursors.reset_at is 'When the cursor was last set anew, since the database had come to another server; NULL: never.';
comment on column core.broadcast_cursors.reset_reason is 'What was found then, and what was done.';
comment on column core.broadcast_cursors.began_at is 'When the node registered with handlers of broadcasts first.';
comment on column core.broadcast_cursors.moved_at is 'When it last settled a broadcast.';
