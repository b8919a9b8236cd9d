-- A lane in which all has ended that a snapshot sees has work only if a message came that this does not see; and those
-- are found by their transactions. So all lanes are looked at now and then, and between only those that had work then
-- or got a message since. The snapshot is taken before the look, which sees no less.
--
-- Whoever looks writes that down, unless another one is just doing it. What is not written anew goes: its ids may be of
-- another server, and mean something else here one day.
create or replace function core_private.lanes_to_ask(p_consumer_id integer, p_generation integer, p_lanes integer)
returns integer[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    v_most    constant integer := 4000; -- messages
    v_look    core_private.lane_looks;
    v_cluster bigint;
    v_shot    pg_snapshot;
    v_came    integer[];
    v_lanes   integer[];
begin
    if p_lanes <= core_private.few_lanes() then
        return null;
    end if;
    v_cluster := core_private.cluster_id();
    v_shot := pg_current_snapshot();
    select * into v_look from core_private.lane_looks l where l.consumer_id = p_consumer_id;
    if v_look.cluster = v_cluster and pg_snapshot_xmax(v_look.seen) <= pg_snapshot_xmax(v_shot) then
        v_came := array(
            (select m.lane_id
               from core_private.lane_messages m
              where m.xid >= pg_snapshot_xmax(v_look.seen)
              limit v_most)
             union all
            (select m.lane_id
               from pg_snapshot_xip(v_look.seen) x
               join core_private.lane_messages m on m.xid = x
              limit v_most));
        if cardinality(v_came) < v_most then
            return array(
                select unnest(v_look.lane_ids)
                 union
                select c.lane_id
                  from (select distinct u.id from unnest(v_came) u(id)) y
                  join core_private.consumer_lanes c on c.lane_id = y.id and c.consumer_id = p_consumer_id);
        end if;
    end if;
    v_lanes := array(
        select w.lane_id from core_private.lanes_with_work(p_consumer_id, p_generation, true) w);
    perform from core_private.lane_looks l where l.consumer_id = p_consumer_id for update skip locked;
    if found and cardinality(v_lanes) > v_most / 4 then
        delete from core_private.lane_looks l where l.consumer_id = p_consumer_id;
    elsif found then
        update core_private.lane_looks l
           set cluster = v_cluster, seen = v_shot, lane_ids = v_lanes
         where l.consumer_id = p_consumer_id;
    elsif cardinality(v_lanes) <= v_most / 4 then
        insert into core_private.lane_looks (consumer_id, cluster, seen, lane_ids)
        values (p_consumer_id, v_cluster, v_shot, v_lanes)
        on conflict (consumer_id) do nothing;
    end if;
    return v_lanes;
end $$;
comment on function core_private.lanes_to_ask(integer, integer, integer) is 'Which lanes of a consumer may have work; NULL: all.';
