-- By the time that nodes of the consumer have lived since, so that an outage of all nodes buries nothing. Back
-- to the queue and buried from there in one transaction: one function alone writes dead letters of deliveries.
create or replace function core_private.give_up_parked(
    p_queue text, p_namespace text, p_consumer text, p_lived interval, p_limit integer)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    v_now     timestamptz := core_private.now();
    v_removed integer := 0;
    v_ids     bigint[];
    v_cts     integer[];
    v_reasons text[];
begin
    -- They wait for a dead-letter queue that is missing.
    if to_regclass(core_private.queue_relation(core.dead_letter_queue_name_for_namespace(p_namespace))) is null then
        return jsonb_build_object('buried', 0, 'removed', 0);
    end if;
    -- In the consumer default it is removed when others had it: a broadcast the nodes, or another consumer or a
    -- trigger that was there when the event was emitted. Times of one format, compared as text: a message sent by hand
    -- may hold anything.
    execute format($q$
        with old as (
            delete from core.parked p
             using (select x.ctid as tid
                      from core.parked x
                     where x.queue_name = $1 and x.lived <= $2
                     order by x.lived limit $3) batch
             where p.ctid = batch.tid
            returning p.*),
        judged as materialized (
            select o.*,
                   $5 = 'default' and (
                       o.message @> '{"broadcast": true}'
                       or exists (
                           select
                             from core_private.consumers_of($4, array[o.event_type], false) c
                            where o.message ->> 'emittedAt' collate "C" >= core_private.iso(c.created_at))
                       or core_private.has_fired($4, o.event_id)
                   ) as elsewhere
              from old o),
        back as (
            insert into %s (msg_id, read_ct, enqueued_at, last_read_at, vt, message, headers) overriding system value
            select j.msg_id, j.read_ct, j.enqueued_at, j.last_read_at, $6, j.message, j.headers
              from judged j
             where not j.elsewhere)
        select count(*) filter (where j.elsewhere),
               array_agg(j.msg_id order by j.msg_id) filter (where not j.elsewhere),
               array_agg(j.read_ct order by j.msg_id) filter (where not j.elsewhere),
               array_agg('No handler for event ' || j.event_type order by j.msg_id) filter (where not j.elsewhere)
          from judged j
        $q$, core_private.queue_relation(p_queue))
       into v_removed, v_ids, v_cts, v_reasons
      using p_queue, p_lived, p_limit, p_namespace, p_consumer, v_now;
    if v_removed > 0 then
        update core_private.parking k set removed = k.removed + v_removed where k.queue_name = p_queue;
    end if;
    if v_ids is not null then
        perform core_private.bury(
            p_queue, null, v_ids, v_cts, v_reasons, array_fill(null::text, array[cardinality(v_ids)]));
    end if;
    return jsonb_build_object('buried', coalesce(cardinality(v_ids), 0), 'removed', v_removed);
end $$;
comment on function core_private.give_up_parked(text, text, text, interval, integer) is 'Gives up to p_limit messages up that were parked before nodes had lived p_lived: dead letters, or removed and counted where another consumer or a trigger had the event. The caller holds the row of core_private.parking.';
