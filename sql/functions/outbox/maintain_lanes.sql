-- A partition goes when nobody can write to it any more and no lane has anything left in it. To drop it takes a lock of
-- the table that all who enqueue have locked until they commit, so where one of them is always about, that is never to
-- be had at once: then the partition is emptied, for which its own lock does, that no writer has. The lock of all is
-- waited for seldom, at the 1st, 2nd, 4th, 8th … try and then at each 64th, and never longer than lock_timeout, since
-- whoever comes meanwhile waits behind. Other locks that are not to be had are for the next time, and so is all of it
-- while somebody else is at it. What takes long is before the lock of all, which stays until the caller commits.
create or replace function core_private.maintain_lanes()
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
    v_now      timestamptz := core_private.now();
    v_last     bigint := coalesce(pg_sequence_last_value('core_private.lane_message_id_seq'), 0);
    v_own      bigint;
    v_oldest   xid8;
    v_made     integer := 0;
    v_ready    text[] := '{}';
    v_emptied  text[] := '{}';
    v_dropped  text[] := '{}';
    v_lane     integer;
    v_relation text;
    r          record;
begin
    if not exists (select from core_private.consumer_lanes) and v_last = 0 then
        return jsonb_build_object('made', 0, 'emptied', v_emptied, 'dropped', v_dropped);
    end if;
    perform from core_private.locks l where l.name = 'lanes' for update skip locked;
    if not found then
        return jsonb_build_object('made', 0, 'emptied', v_emptied, 'dropped', v_dropped);
    end if;
    v_own := pg_current_xact_id()::text::bigint;
    perform core_private.part_copied_lanes();
    begin
        v_made := core_private.make_lane_partitions(core_private.lane_partitions_ahead());
    exception when lock_not_available then
        null;
    end;
    perform core_private.retire_lanes();
    -- Whoever may still write to a partition has drawn its id by now, and had an xid before. This transaction's may be
    -- older than that: a caller's, or given by what a tick did before. A subtransaction gets a number when it writes.
    begin
        update core_private.lane_partitions p
           set full_at = coalesce(p.full_at, v_now)
         where p.xid is null and p.upper <= v_last + 1;
    exception when assert_failure then
        raise;
    end;
    update core_private.lane_partitions p
       set xid = (v_own + ((p.xmin::text::bigint - v_own) & 4294967295))::text::xid8
     where p.xid is null and p.upper <= v_last + 1;
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
    v_oldest := pg_snapshot_xmin(pg_current_snapshot());
    for r in
        select p.relation, p.xid, p.held_by, p.emptied_at
          from core_private.lane_partitions p
         where p.xid < v_oldest
         order by p.upper
    loop
        v_lane := null;
        if r.emptied_at is null then
            v_lane := core_private.unseen_in(r.relation, r.xid, r.held_by);
        end if;
        if v_lane is distinct from r.held_by then
            update core_private.lane_partitions p set held_by = v_lane where p.relation = r.relation;
        end if;
        if v_lane is null then
            v_ready := v_ready || r.relation;
        end if;
    end loop;
    if v_ready <> '{}' then
        begin
            perform core_private.lock_lane_messages(v_ready[1]);
            foreach v_relation in array v_ready loop
                execute format('drop table core_private.%I', v_relation);
            end loop;
            delete from core_private.lane_partitions p where p.relation = any (v_ready);
            v_dropped := v_ready;
        exception when lock_not_available then
            update core_private.lane_partitions p set tries = p.tries + 1 where p.relation = v_ready[1];
            for r in
                select p.relation
                  from core_private.lane_partitions p
                 where p.relation = any (v_ready) and p.emptied_at is null
                 order by p.upper
            loop
                begin
                    execute format('truncate core_private.%I', r.relation);
                    update core_private.lane_partitions p set emptied_at = v_now where p.relation = r.relation;
                    v_emptied := v_emptied || r.relation;
                exception when lock_not_available then
                    exit;
                end;
            end loop;
        end;
    end if;
    return jsonb_build_object('made', v_made, 'emptied', v_emptied, 'dropped', v_dropped);
end $$;
comment on function core_private.maintain_lanes() is 'Makes partitions of lanes ahead, and drops those of which no lane has anything left, or empties them where that cannot be had; says which.';
