-- One suspect at a time is among them, and alone; see core_node.claim. A lease outlasts one call; the others of a batch
-- are held by their locks.
create or replace function core_private.claim_handler(
    p_consumer_id integer, p_owner oid, p_keys text[], p_limit integer, p_lease interval,
    out ids bigint[], out cts integer[], out ats timestamptz[], out buried integer, out within interval)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue  text;
    v_levels integer;
    v_types  text[];
    v_sweep  boolean;
    v_round  integer := 0;
    v_window integer;
    v_looked integer;
    v_floor  bigint  := 0;
    v_before bigint;
begin
    select c.queue_name, c.levels into v_queue, v_levels from core.consumers c where c.consumer_id = p_consumer_id;
    buried := 0;
    -- At the head, then what is due beyond the head of a long queue. Where handlers share the queue that may all be for
    -- others, who are away for long: then through all of it.
    loop
        v_round := v_round + 1;
        v_sweep := v_round = 2;
        v_window := case when v_round > 2 then 10000 end;
        v_before := case when v_round > 3 then v_floor else 0 end;
        select array_agg(c.msg_id order by c.msg_id) filter (where c.outcome = 'claimed'),
               array_agg(c.read_ct order by c.msg_id) filter (where c.outcome = 'claimed'),
               array_agg(c.last_read_at order by c.msg_id) filter (where c.outcome = 'claimed'),
               buried + count(*) filter (where c.outcome = 'buried'),
               array_agg(distinct c.message ->> 'eventType') filter (where c.outcome = 'claimed' and p_keys <> '{*}'),
               max(c.read_ct) filter (where c.outcome = 'window'), max(c.scanned_to)
          into ids, cts, ats, buried, v_types, v_looked, v_floor
          from core_node.claim(v_queue, p_keys, array(select 0 from unnest(p_keys)), p_limit, p_lease,
                               p_floor => v_before, p_window => v_window,
                               p_sweep => v_sweep,
                               p_floors => case when v_levels > 1 and not v_sweep
                                                then core_private.level_floors(v_levels) end) c;
        exit when ids is not null or p_keys = '{*}' and v_round = 2
               or v_round > 2 and (v_levels > 1 or (v_floor > v_before and v_looked >= v_window) is not true);
    end loop;
    select max((core_private.sql_handler(p_consumer_id, p_owner, u.key)).timeout)
      into within
      from unnest(coalesce(v_types, p_keys)) u(key);
end $$;
comment on function core_private.claim_handler(integer, oid, text[], integer, interval) is 'Leases due deliveries for the SQL handlers that an owner has for a consumer, as core_private.keys_to_run has them: their fences, how many went to the dead letters in place of it, and how long a call may take. Raises as core_node.claim.';
