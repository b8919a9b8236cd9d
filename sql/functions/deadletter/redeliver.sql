-- Puts dead deliveries of one call back, under a new message id and with fresh attempts; event id, headers and ordering key stay, and
-- headers tell the round. Rows must be locked by the caller.
create or replace function core_private.redeliver(p_ids bigint[], p_payload jsonb)
returns table (dead_letter_id bigint, msg_id bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := core_private.now();
    v_by  text := core_private.principal();
    r     record;
begin
    for r in
        select c.queue_name, q.queue_name as dlq, array_agg(l.dead_letter_id order by l.dead_letter_id) as ids
          from core.dead_letters l
          join core.consumers c on c.namespace = l.namespace and c.name = l.consumer and c.kind = 'unordered'
          join core.queues q on q.namespace = l.namespace and q.consumer_id is null
         where l.dead_letter_id = any (p_ids) and l.source_kind = 'delivery' and l.status = 'pending'
         group by c.queue_name, q.queue_name order by c.queue_name
    loop
        return query execute format($q$
            with back as materialized (
                select l.dead_letter_id, l.dlq_msg_id, nextval(%2$L::regclass) as msg_id,
                       case when l.envelope is null then coalesce($3, l.payload) else l.envelope || jsonb_build_object('payload', coalesce($3, l.payload)) end as message,
                       coalesce(l.headers, '{}') || jsonb_build_object('nexus-replay-of', l.dead_letter_id, 'nexus-round', l.replay_count + 1) as headers
                  from core.dead_letters l where l.dead_letter_id = any ($1)),
            sent as (insert into %1$s (msg_id, vt, message, headers) overriding system value select b.msg_id, $2, b.message, b.headers from back b order by b.msg_id),
            copy as (delete from %3$s q using back b where q.msg_id = b.dlq_msg_id),
            ledger as (
                update core.dead_letters l set status = 'resolved', resolution = 'replayed', resolved_at = $2, resolved_by = $4
                  from back b where l.dead_letter_id = b.dead_letter_id)
            select b.dead_letter_id, b.msg_id from back b
            $q$, core_private.queue_relation(r.queue_name), core_private.queue_sequence(r.queue_name), core_private.queue_relation(r.dlq))
            using r.ids, v_now, p_payload, v_by;
        perform core_private.wake(r.queue_name, v_now);
    end loop;
end $$;
comment on function core_private.redeliver(bigint[], jsonb) is 'Replays pending dead deliveries; returns those it put back with their new message ids. Those whose consumer is gone are left.';
