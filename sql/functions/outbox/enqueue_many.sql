-- Ids are drawn after the transaction has its own id, on which the reading of lanes rests. Lanes of a strict queue are
-- locked in their order, and before any id is drawn. Nobody else is locked out: what comes to a queue while that is
-- dropped is lost with it.
create or replace function core_private.enqueue_many(
    p_namespace text, p_queue text, p_bodies bytea[], p_body_types text[], p_keys text[], p_dedupe_keys text[],
    p_batch boolean)
returns table (message_id bigint, lane integer, duplicate boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
    v_now   timestamptz := core_private.now();
    v_queue record;
    v_lost  text[] := '{}';
    v_key   text := core_private.outbox_key(p_namespace, p_queue);
begin
    select * into v_queue from core_private.outbox_named(p_namespace, p_queue);
    perform core_private.check_outbox_messages(
        p_bodies, p_body_types, p_keys, p_dedupe_keys, v_queue.max_body_bytes, p_batch);
    perform pg_current_xact_id();
    if p_dedupe_keys is not null then
        v_lost := array(
            select k.key
              from core_private.claim_keys(
                       p_namespace,
                       array(select v_key || ' ' || d from unnest(p_dedupe_keys) d where d is not null), v_now,
                       v_now + (select n.dedupe_for from core.namespaces n where n.namespace = p_namespace),
                       '{}', '{}') k
             where not k.won);
    end if;
    if v_queue.is_strict then
        -- The first number is the outbox's own, so that nobody else's locks are met.
        perform pg_advisory_xact_lock(-1316159060, x.lane_id)
           from (
               select distinct l.lane_id
                 from unnest(coalesce(p_keys, array[null]::text[])) k -- without a key any lane may be meant
                 join core_private.consumer_lanes l
                   on l.consumer_id = v_queue.consumer_id and l.generation = v_queue.generation
                  and (k is null or l.lane = core_private.lane_of_key(k, v_queue.lanes))
                order by l.lane_id) x;
    end if;
    return query
        with given as materialized (
            select u.n, u.body, u.body_type, u.key,
                   u.dedupe_key is not null
                   and (v_key || ' ' || u.dedupe_key = any (v_lost)
                        or row_number() over (partition by u.dedupe_key order by u.n) > 1) as duplicate
              from unnest(p_bodies, p_body_types, p_keys, p_dedupe_keys)
                   with ordinality u(body, body_type, key, dedupe_key, n)),
        drawn as materialized (
            select g.*, case when not g.duplicate then nextval('core_private.lane_message_id_seq') end as id
              from (select * from given order by n) g),
        placed as materialized (
            select d.*, l.lane_id, l.lane
              from drawn d
              left join core_private.consumer_lanes l
                on l.consumer_id = v_queue.consumer_id and l.generation = v_queue.generation
               and l.lane = coalesce(core_private.lane_of_key(d.key, v_queue.lanes), (d.id % v_queue.lanes)::integer)),
        written as (
            insert into core_private.lane_messages (lane_id, id, xid, key, body, body_type, created_at)
            select p.lane_id, p.id, pg_current_xact_id(), p.key, p.body, p.body_type, v_now
              from placed p
             where not p.duplicate
             order by p.id)
        select p.id, p.lane, p.duplicate
          from placed p
         order by p.n;
    perform core_private.wake(v_key, v_now);
end $$;
comment on function core_private.enqueue_many(text, text, bytea[], text[], text[], text[], boolean) is 'Enqueues messages of a caller that may. Raises NX006, NX018, NX115, NX601, NX602.';
