-- A partition goes when nobody can write to it any more and no lane has anything left in it. Nobody is waited for: a
-- lock that is not to be had is for the next time, and so is all of it while somebody else is at it.
create or replace function core_private.maintain_lanes()
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
    v_last    bigint := coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);
    v_oldest  xid8;
    v_made    integer := 0;
    v_dropped text[] := '{}';
    r         record;
begin
    if not exists (select from core_private.consumer_lanes) and v_last = 0 then
        return jsonb_build_object('made', 0, 'dropped', v_dropped);
    end if;
    perform from core_private.locks l where l.name = 'lanes' for update skip locked;
    if not found then
        return jsonb_build_object('made', 0, 'dropped', v_dropped);
    end if;
    begin
        v_made := core_private.make_lane_partitions(8);
    exception when lock_not_available then
        null;
    end;
    perform core_private.retire_lanes();
    update core_private.lane_partitions p
       set xid = pg_current_xact_id()
     where p.xid is null and p.upper <= v_last + 1;
    v_oldest := pg_snapshot_xmin(pg_current_snapshot());
    for r in
        select p.relation, p.xid from core_private.lane_partitions p where p.xid < v_oldest order by p.upper
    loop
        continue when core_private.unseen_in(r.relation, r.xid) is not null;
        begin
            lock table core_private.lane_messages in access exclusive mode nowait;
            execute format('drop table core_private.%I', r.relation);
            delete from core_private.lane_partitions p where p.relation = r.relation;
            v_dropped := v_dropped || r.relation;
        exception when lock_not_available then
            null;
        end;
    end loop;
    -- What came when there was no partition for it.
    if exists (select from core_private.lane_messages_default) then
        delete from core_private.lane_messages_default m
         using (select m.id
                  from core_private.lane_messages_default m
                  left join core_private.consumer_lanes c on c.lane_id = m.lane_id
                  left join lateral core_private.lane_now(c.lane_id) l on true
                 where c.lane_id is null
                    or not core_private.of_another_server(l, core_private.cluster_id())
                       and pg_visible_in_snapshot(m.xid, l.done)
                 limit 10000) x
         where m.id = x.id;
    end if;
    return jsonb_build_object('made', v_made, 'dropped', v_dropped);
end $$;
comment on function core_private.maintain_lanes() is 'Makes partitions of lanes ahead, and drops those of which no lane has anything left; says which.';
