-- Ids are drawn after the transaction has its own id, on which the reading of lanes rests. Lanes of a strict queue are
-- locked in their order, and before any id is drawn; they are gone if the queue was dropped meanwhile. Nobody else is
-- locked out: what comes to a queue while that is dropped is lost with it. What passes is asked in one expression, and
-- in the statement that writes: calls cost more than what they do.
create or replace function core_private.enqueue_many(
    p_namespace text, p_queue text, p_bodies bytea[], p_body_types text[], p_keys text[], p_dedupe_keys text[],
    p_batch boolean)
returns table (message_id bigint, lane integer, duplicate boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    v_now   timestamptz := core_private.now();
    v_n     integer := cardinality(p_bodies);
    v_key   text := core_private.outbox_key(p_namespace, p_queue);
    v_queue record;
    v_xid   xid8;
    v_lost  text[];
    v_again boolean[]; -- which messages others speak for
    v_lanes integer[];
    v_locks integer[]; -- of a strict queue
    v_locked integer;
begin
    select c.consumer_id, c.lanes, q.strict as is_strict, q.max_body_bytes, q.lane_ids, n.restricted, n.dedupe_for,
           exists (select from core_private.wake_flags f where f.key = v_key and f.waiting_until > v_now) as wakes
      into v_queue
      from core.namespaces n
      join core.consumers c on c.namespace = n.namespace
      join core_private.outbox_queues q on q.consumer_id = c.consumer_id
     where n.namespace = p_namespace and c.name = p_queue and c.kind = 'outbox';
    if (found and not v_queue.restricted and core_private.is_plainly('nexus_producer')) is not true then
        perform core_private.require_duty(p_namespace, 'produce');
        if v_queue.consumer_id is null then
            perform core_private.fail_lane('p_queue', p_queue);
        end if;
    end if;
    if (v_n <= 10000 and cardinality(p_body_types) = v_n and (p_keys is null or cardinality(p_keys) = v_n)
        and (p_dedupe_keys is null or cardinality(p_dedupe_keys) = v_n)) is not true then
        perform core_private.refuse_outbox_arrays(p_bodies, p_body_types, p_keys, p_dedupe_keys);
    end if;
    v_xid := pg_current_xact_id();
    if p_dedupe_keys is not null then
        if exists (select from unnest(p_dedupe_keys) d where octet_length(d) not between 1 and 200) then
            perform core_private.refuse_outbox_messages(
                p_bodies, p_body_types, p_keys, p_dedupe_keys, v_queue.max_body_bytes, p_batch);
        end if;
        v_lost := array(
            select k.key
              from core_private.claim_keys(
                       v_key, p_dedupe_keys, v_now, v_now + v_queue.dedupe_for, '{}', '{}') k
             where not k.won);
        v_again := array(
            select u.k is not null
                   and (u.k = any (v_lost) or row_number() over (partition by u.k order by u.n) > 1)
              from unnest(p_dedupe_keys) with ordinality u(k, n)
             order by u.n);
    end if;
    if v_queue.is_strict then
        v_lanes := core_private.lanes_of_keys(p_keys, v_queue.lanes);
        v_locks := case
            when v_lanes is null or array_position(v_lanes, null) > 0 then v_queue.lane_ids -- any may be meant
            else array(select distinct v_queue.lane_ids[1 + u.n] from unnest(v_lanes) u(n)) end;
        perform
           from core_private.strict_lanes s
          where s.lane_id = any (v_locks)
          order by s.lane_id
            for no key update;
        get diagnostics v_locked = row_count;
        if v_locked < cardinality(v_locks) then
            perform core_private.fail_lane('p_queue', p_queue);
        end if;
    end if;
    return query
        with drawn as materialized (
            select u.*, core_private.lane_of_key(u.key, v_queue.lanes) as of_key,
                   case when octet_length(u.body) <= v_queue.max_body_bytes
                             and octet_length(u.body_type) between 1 and 1024
                             and (u.key is null or octet_length(u.key) <= 1024)
                        then case when u.again is not true then nextval('core_private.lane_message_id_seq') end
                        else core_private.refuse_outbox_messages(
                                 p_bodies, p_body_types, p_keys, p_dedupe_keys, v_queue.max_body_bytes, p_batch)
                   end as id
              from unnest(p_bodies, p_body_types, p_keys, v_again) u(body, body_type, key, again)),
        written as (
            insert into core_private.lane_messages (lane_id, id, xid, key, body, body_type, created_at)
            select v_queue.lane_ids[1 + coalesce(d.of_key, (d.id % v_queue.lanes)::integer)], d.id,
                   v_xid, d.key, d.body, d.body_type, v_now
              from drawn d
             where d.id is not null)
        select d.id, coalesce(d.of_key, (d.id % v_queue.lanes)::integer), d.id is null
          from drawn d;
    if v_queue.wakes then
        perform core_private.wake(v_key, v_now);
    end if;
end $$;
comment on function core_private.enqueue_many(text, text, bytea[], text[], text[], text[], boolean) is 'Enqueues messages, for who may. Raises NX006, NX018, NX101, NX115, NX401, NX402, NX601, NX602.';
