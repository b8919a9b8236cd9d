-- By age alone: a node that is away for long does not keep them. What it had not read is counted at its cursor, so that
-- it is not lost unseen. What a node has in hand stays for the end of the attempt, which may need it; what waits for
-- another one has its own copy.
--
-- Whose cursor moves while it looks may just be given one of these, or have handled it: counted by what the cursor
-- was, a broadcast could be missed twice, or be missed and handled. So a cursor that is not beyond all of them is
-- locked first, and looked at then. What one that somebody holds has not read is left for the next time; nobody is
-- waited for. Nor is whoever drops the namespace, who has its row before he comes to the broadcasts.
create or replace function core_private.expire_broadcasts(p_limit integer = 10000)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now    timestamptz := core_private.now();
    v_stop   timestamptz := clock_timestamp() + interval '10 seconds';
    v_closed text[] := core_private.closed_namespaces();
    v_space  text := '';
    v_keep   interval;
    v_ids    bigint[];
    v_held   text[];
    v_gone   bigint := 0;
    v_missed bigint := 0;
    v_n      bigint;
    v_m      bigint;
begin
    loop
        select b.namespace, n.keep_broadcasts
          into v_space, v_keep
          from core.broadcasts b
          left join core.namespaces n using (namespace)
         where b.namespace > v_space
         order by b.namespace
         limit 1;
        exit when not found;
        continue when v_space = any (v_closed);
        perform from core.namespaces n where n.namespace = v_space for key share skip locked;
        continue when not found and v_keep is not null;
        loop
            v_ids := array(
                select x.broadcast_id
                  from core.broadcasts x
                 where x.namespace = v_space and x.emitted_at <= v_now - coalesce(v_keep, '0')
                 order by x.emitted_at
                 limit p_limit
                   for update skip locked);
            v_held := array(
                select c.node_id
                  from core_private.broadcast_cursors c
                 where c.namespace = v_space
                   and exists (
                       select
                         from core.broadcasts x
                        where x.broadcast_id = any (v_ids) and x.cluster = c.cluster
                          and core_private.is_unread(c, x.xid, x.broadcast_id))
                   for no key update skip locked);
            with gone as (
                delete from core.broadcasts b
                 where b.broadcast_id = any (v_ids)
                   and not exists (
                       select
                         from core_private.broadcast_cursors h
                        where h.namespace = v_space and h.cluster = b.cluster
                          and (h.taken_xid = b.xid and h.taken_id = b.broadcast_id
                               or h.node_id <> all (v_held) and core_private.is_unread(h, b.xid, b.broadcast_id)))
                returning b.cluster, b.xid, b.broadcast_id, b.event_type),
            unread as (
                select c.node_id, count(*) as n
                  from core_private.broadcast_cursors c
                  join gone g on g.cluster = c.cluster
                 where c.namespace = v_space and core_private.is_unread(c, g.xid, g.broadcast_id)
                   and exists (select from unnest(c.patterns) p where core_private.matches(p, g.event_type))
                 group by c.node_id),
            noted as (
                update core_private.broadcast_cursors c
                   set missed = c.missed + u.n, missed_at = v_now
                  from unread u
                 where c.node_id = u.node_id
                returning u.n)
            select (select count(*) from gone), (select coalesce(sum(n), 0) from noted)
              into v_n, v_m;
            v_gone := v_gone + v_n;
            v_missed := v_missed + v_m;
            exit when cardinality(v_ids) < p_limit or v_n = 0 or clock_timestamp() > v_stop;
        end loop;
        exit when clock_timestamp() > v_stop;
    end loop;
    return jsonb_build_object(
        'removed', v_gone, 'missed', v_missed, 'buried', core_private.give_up_broadcasts());
end $$;
comment on function core_private.expire_broadcasts(integer) is 'Removes broadcasts that are older than keep_broadcasts of their namespace, p_limit a statement, and buries what nodes have no handler for any more; says how many, and how many nodes had not read them.';
