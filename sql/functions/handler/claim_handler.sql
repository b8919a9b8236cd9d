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
begin
    select c.queue_name, c.levels into v_queue, v_levels from core.consumers c where c.consumer_id = p_consumer_id;
    buried := 0;
    -- At the head, then what is due beyond the head of a long queue.
    foreach v_sweep in array array[false, true] loop
        select array_agg(c.msg_id order by c.msg_id) filter (where c.outcome = 'claimed'),
               array_agg(c.read_ct order by c.msg_id) filter (where c.outcome = 'claimed'),
               array_agg(c.last_read_at order by c.msg_id) filter (where c.outcome = 'claimed'),
               buried + count(*) filter (where c.outcome = 'buried'),
               array_agg(distinct c.message ->> 'eventType') filter (where c.outcome = 'claimed' and p_keys <> '{*}')
          into ids, cts, ats, buried, v_types
          from core_node.claim(v_queue, p_keys, array(select 0 from unnest(p_keys)), p_limit, p_lease,
                               p_sweep => v_sweep,
                               p_floors => case when v_levels > 1 and not v_sweep
                                                then core_private.level_floors(v_levels) end) c;
        exit when ids is not null;
    end loop;
    select max((core_private.sql_handler(p_consumer_id, p_owner, u.key)).timeout)
      into within
      from unnest(coalesce(v_types, p_keys)) u(key);
end $$;
comment on function core_private.claim_handler(integer, oid, text[], integer, interval) is 'Leases due deliveries for the SQL handlers that an owner has for a consumer, as core_private.keys_to_run has them: their fences, how many went to the dead letters in place of it, and how long a call may take. Raises as core_node.claim.';
