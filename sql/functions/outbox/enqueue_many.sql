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
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    v_now   timestamptz := core_private.now();
    v_queue record;
    v_lost  text[];
    v_again boolean[]; -- which messages others speak for
    v_lanes integer[];
    v_key   text := core_private.outbox_key(p_namespace, p_queue);
begin
    select * into v_queue from core_private.outbox_named(p_namespace, p_queue);
    perform core_private.check_outbox_messages(
        p_bodies, p_body_types, p_keys, p_dedupe_keys, v_queue.max_body_bytes, p_batch);
    perform pg_current_xact_id();
    v_lanes := core_private.lanes_of_keys(p_keys, v_queue.lanes);
    if p_dedupe_keys is not null then
        v_lost := array(
            select k.key
              from core_private.claim_keys(
                       p_namespace,
                       array(select v_key || ' ' || d from unnest(p_dedupe_keys) d where d is not null), v_now,
                       v_now + (select n.dedupe_for from core.namespaces n where n.namespace = p_namespace),
                       '{}', '{}') k
             where not k.won);
        v_again := array(
            select u.k is not null
                   and (v_key || ' ' || u.k = any (v_lost) or row_number() over (partition by u.k order by u.n) > 1)
              from unnest(p_dedupe_keys) with ordinality u(k, n)
             order by u.n);
    end if;
    if v_queue.is_strict then
        -- The first number is the outbox's own, so that nobody else's locks are met.
        perform pg_advisory_xact_lock(-1316159060, x.lane_id)
           from (
               select l.lane_id
                 from unnest(v_queue.lane_ids) with ordinality l(lane_id, n)
                where v_lanes is null or array_position(v_lanes, null) > 0 -- without a key any lane may be meant
                   or l.n - 1 = any (v_lanes)
                order by l.lane_id) x;
    end if;
    return query
        with drawn as materialized (
            select u.*, case when u.again is not true then nextval('core_private.lane_message_id_seq') end as id
              from unnest(p_bodies, p_body_types, p_keys, v_lanes, v_again)
                   with ordinality u(body, body_type, key, of_key, again, n)),
        written as (
            insert into core_private.lane_messages (lane_id, id, xid, key, body, body_type, created_at)
            select v_queue.lane_ids[1 + coalesce(d.of_key, (d.id % v_queue.lanes)::integer)], d.id,
                   pg_current_xact_id(), d.key, d.body, d.body_type, v_now
              from drawn d
             where d.id is not null)
        select d.id, coalesce(d.of_key, (d.id % v_queue.lanes)::integer), d.id is null
          from drawn d
         order by d.n;
    perform core_private.wake(v_key, v_now);
end $$;
comment on function core_private.enqueue_many(text, text, bytea[], text[], text[], text[], boolean) is 'Enqueues messages of a caller that may. Raises NX006, NX018, NX115, NX601, NX602.';
