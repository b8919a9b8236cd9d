-- Ids of transactions mean nothing on another server. What has ended is known by the old snapshots, which are compared
-- with the old ids here for the last time: it is removed, and the rest is given the id of this transaction, which no
-- snapshot of before it sees. In the order of ids that is an order in which it may have been enqueued. What was
-- enqueued here since has ids beyond what the old snapshots can have seen.
--
-- The numbers of what a lane had in hand have been given, so that comes first: what was late, with lower ids, gets ids
-- behind it, and so does then all that was not in hand.
--
-- Where one lane gives away that the database is of a copy of this server, which has its identifier, all are taken.
create or replace function core.lanes_rebase()
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_floor   bigint;
    v_next    xid8;
    v_shot    pg_snapshot;
    v_lane    core_private.lanes;
    v_copy    boolean;
    v_given   bigint;
    v_rebased integer := 0;
    r         record;
begin
    if not pg_has_role(core_private.caller(), 'nexus_admin', 'member') then
        raise exception using errcode = 'NX401',
            message = format('role %I may not administer lanes', core_private.caller()),
            hint = format('grant nexus_admin to %I;', core_private.caller());
    end if;
    perform core_private.refuse_borrowed_session();
    perform core_private.require_read_committed('core.lanes_rebase');
    perform core_private.require_first('core.lanes_rebase');
    lock table core_private.lane_messages in share row exclusive mode;
    -- In this order: a snapshot does not see what begins after it, and would not know its own transaction as running.
    v_shot := pg_current_snapshot();
    v_next := pg_current_xact_id();
    v_floor := coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);
    v_copy := exists (
        select
          from core_private.consumer_lanes c
         cross join lateral core_private.lane_now(c.lane_id) l
         where l.cluster = core_private.cluster_id()
           and core_private.of_another_server(l, core_private.cluster_id()));
    for r in select c.lane_id from core_private.consumer_lanes c order by c.lane_id loop
        v_lane := core_private.lock_lane(r.lane_id);
        continue when v_lane.cluster = core_private.cluster_id() and not v_copy;
        delete from core_private.lane_messages m
         where m.lane_id = v_lane.lane_id
           and (m.id <= v_lane.done_top and pg_visible_in_snapshot(m.xid, v_lane.done)
                or v_lane.cur is not null and m.id <= v_lane.pos and pg_visible_in_snapshot(m.xid, v_lane.cur));
        v_given := (
            select max(m.id)
              from core_private.lane_messages m
             where m.lane_id = v_lane.lane_id and m.id <= v_lane.cur_top and pg_visible_in_snapshot(m.xid, v_lane.cur));
        if exists (
               select
                 from core_private.lane_messages m
                where m.lane_id = v_lane.lane_id and m.id < v_given
                  and not pg_visible_in_snapshot(m.xid, v_lane.cur)) then
            update core_private.lane_messages m
               set id = o.new_id
              from (select x.id, nextval('core_private.lane_message_id_seq') as new_id
                      from (select y.id
                              from core_private.lane_messages y
                             where y.lane_id = v_lane.lane_id
                               and (y.id > v_lane.cur_top or not pg_visible_in_snapshot(y.xid, v_lane.cur))
                             order by y.id
                            offset 0) x
                    offset 0) o
             where m.lane_id = v_lane.lane_id and m.id = o.id;
        end if;
        update core_private.lane_messages m set xid = v_next where m.lane_id = v_lane.lane_id;
        v_lane.cluster := core_private.cluster_id();
        v_lane.done := v_shot;
        v_lane.done_floor := v_floor;
        v_lane.done_next := (v_next::text::bigint + 1)::text::xid8;
        v_lane.done_top := v_floor;
        v_lane.cur := null;
        v_lane.cur_floor := null;
        v_lane.cur_next := null;
        v_lane.cur_top := null;
        v_lane.pos := 0;
        v_lane.token := null;
        v_lane.locked_until := null;
        v_lane.handed := 0;
        perform core_private.store_lane(v_lane);
        v_rebased := v_rebased + 1;
    end loop;
    update core_private.lane_partitions p set xid = null;
    delete from core_private.lane_looks;
    if v_rebased > 0 then
        perform core_private.audit('lanes_rebase', c.namespace, c.name, null, jsonb_build_object('lanes', c.lanes))
           from core.consumers c
          where c.kind in ('outbox', 'ordered');
    end if;
    return v_rebased;
end $$;
comment on function core.lanes_rebase() is 'After a restore from a dump, before processors run: has the lanes go on where they were, on this server. Returns how many there were; those that are of this server already are left. Raises NX224, NX401; 55000 unless the transaction is read committed.';
