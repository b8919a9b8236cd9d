-- Up to a thousand are counted. Each part is a range of the index: what was running in seen, what lies behind the place
-- in target, and what was running in target and so is left for the next one.
create or replace function core_private.unread_of(p_node_id text)
returns table (unread bigint, oldest timestamptz, retrying bigint, next_due timestamptz)
language sql stable security definer rows 1
set search_path = pg_catalog, pg_temp
as $$
    with cursor as (
        select c.*, array(select x from pg_snapshot_xip(c.seen) x) as late,
               array(select x from pg_snapshot_xip(c.target) x) as later,
               greatest(c.at_xid, pg_snapshot_xmax(c.seen)) as from_xid,
               case when c.at_xid < pg_snapshot_xmax(c.seen) then 0 else c.at_id end as from_id
          from core_private.broadcast_cursors c
         where c.node_id = p_node_id)
    select u.n, u.oldest, d.n, d.due
      from cursor c
     cross join lateral (
        select count(*) as n, min(x.emitted_at) as oldest
          from (
            select l.emitted_at
              from (
                select b.xid, b.broadcast_id, b.event_type, b.emitted_at, b.cluster
                  from core.broadcasts b
                 where b.namespace = c.namespace and b.xid = any (c.late)
                   and ((b.xid, b.broadcast_id) > (c.at_xid, c.at_id)
                        or not pg_visible_in_snapshot(b.xid, coalesce(c.target, c.seen)))
                 union all
                select b.xid, b.broadcast_id, b.event_type, b.emitted_at, b.cluster
                  from core.broadcasts b
                 where b.namespace = c.namespace and b.xid = any (c.later) and b.xid >= pg_snapshot_xmax(c.seen)
                   and (b.xid, b.broadcast_id) <= (c.at_xid, c.at_id)
                 union all
                select b.xid, b.broadcast_id, b.event_type, b.emitted_at, b.cluster
                  from core.broadcasts b
                 where b.namespace = c.namespace and (b.xid, b.broadcast_id) > (c.from_xid, c.from_id)) l
             where l.cluster = c.cluster and l.broadcast_id > c.judged
               and exists (select from unnest(c.patterns) p where core_private.matches(p, l.event_type))
             limit 1000) x) u
     cross join lateral (
        select count(*) as n, min(y.due_at) as due
          from (
            select e.due_at
              from core_private.broadcast_deliveries e
             where e.node_id = c.node_id
             order by e.due_at
             limit 1000) y) d
$$;
comment on function core_private.unread_of(text) is 'What a node has not read yet of the broadcasts it handles, and what it is to get again, up to a thousand of each. Whoever calls it has asked whether the caller may know.';
