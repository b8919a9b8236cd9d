-- Of a lane whose done is beyond the partition's last transaction no message can be left. The lane that had some at the
-- last look is the first to be asked.
create or replace function core_private.unseen_in(p_relation text, p_xid xid8, p_first integer)
returns integer
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
    v_lane    core_private.lanes;
    v_id      integer;
    v_foreign boolean;
    v_unseen  boolean;
begin
    for v_id in
        select c.lane_id
          from core_private.consumer_lanes c
         order by (c.lane_id = p_first) is not true, c.lane_id
    loop
        v_lane := core_private.lane_now(v_id);
        v_foreign := core_private.of_another_server(v_lane, core_private.cluster_id());
        continue when not v_foreign and pg_snapshot_xmin(v_lane.done) > p_xid;
        execute format($q$
            select exists (
                select
                  from core_private.%I m
                 where m.lane_id = $1
                   and ($5
                        or not pg_visible_in_snapshot(m.xid, $2)
                           and ($3 is null or m.id > $4 or not pg_visible_in_snapshot(m.xid, $3))))
            $q$, p_relation)
           into v_unseen
          using v_id, v_lane.done, v_lane.cur, v_lane.pos, v_foreign;
        if v_unseen then
            return v_id;
        end if;
    end loop;
    return null;
end $$;
comment on function core_private.unseen_in(text, xid8, integer) is 'A lane that has a message left in a partition; NULL if none has.';
