create or replace function core_private.backfill_consumer(
    b core_private.backfills, p_limit integer, p_now timestamptz,
    out hindered text, out reached bigint, out looked bigint, out delivered bigint, out paced_to timestamptz)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
    v_queue    text;
    v_relation text;
    v_ordered  boolean;
    v_first    boolean;
    v_deliver  text;
    v_sent     bigint;
    v_later    bigint;
begin
    select c.queue_name, c.kind = 'ordered', c.created_generation = b.generation
      into v_queue, v_ordered, v_first
      from core.consumers c
     where c.consumer_id = b.consumer_id;
    v_relation := core_private.queue_relation(v_queue);
    if v_ordered then
        -- Into the lanes that all others wait for, at once: what had a delay has its place in the log.
        perform pg_current_xact_id(); -- before an id is drawn
        v_deliver := format($q$
        src as materialized (
            select m.event_type, m.message, m.headers, nextval('core_private.lane_message_id_seq') as id
              from (select * from mine order by mine.event_id) m)%s,
        sent as (select from src),
        later as (select from src where false)$q$,
            core_private.lanes_plan(b.consumer_id, 'id', '$13', format($q$
                select array_agg(x.lane_id order by x.lane)
                  from core_private.consumer_lanes x
                 where x.consumer_id = %1$s
                   and x.generation = (
                       select min(y.generation) from core_private.consumer_lanes y where y.consumer_id = %1$s)$q$,
                b.consumer_id)));
        select core_private.outbox_key(c.namespace, c.name)
          into v_queue
          from core.consumers c
         where c.consumer_id = b.consumer_id;
    elsif to_regclass(v_relation) is null then
        hindered := 'lost queue';
        return;
    else
        v_deliver := format($q$
        sent as (
            insert into %1$s (msg_id, read_ct, enqueued_at, vt, message, headers) overriding system value
            select %2$s, 0, $13, $13, m.message, m.headers
              from (select * from mine order by mine.event_id) m
             where m.deliver_at <= $13 or m.deliver_at is null
            returning 1),
        later as (
            insert into core.delayed (due_at, queue_name, event_type, message, headers)
            select m.deliver_at, $14, m.event_type, m.message, m.headers
              from mine m
             where m.deliver_at > $13
            returning 1)$q$, v_relation, core_private.next_id_sql(v_queue, 'm.message'));
    end if;
    execute format($q$
        with chunk as materialized (
            select e.*, e as event
              from core.event_log e
             where e.event_id > $1 and e.event_id <= $2 and e.emitted_at >= $3
             order by e.event_id
             limit $4),
        mine as materialized (
            select c.*, core_private.logged_message(c.event) as message
              from chunk c
             where c.namespace = $5 and c.emitted_at >= $6 and coalesce(c.consumer_generation, 0) < $7
               and not c.metadata ?| '{replyTo,toTriggers}'
               and exists (select from unnest($8) x where core_private.matches(x, c.event_type))
               and ($9 is null or exists (select from unnest($9) x where core_private.matches(x, c.event_type)))
               and ($10 or not core_private.is_delivered_by(
                               $11, $12, c.event_type, coalesce(c.consumer_generation, 0), c.emitted_at))),
        %s
        select (select count(*) from chunk), (select max(c.event_id) from chunk c),
               (select count(*) from sent), (select count(*) from later)
        $q$, v_deliver)
       into looked, reached, v_sent, v_later
      using b.position, b.bound,
            case when b.from_time = '-infinity' then b.from_time else date_trunc('month', b.from_time, 'UTC') end,
            p_limit, b.namespace, b.from_time, b.generation, b.patterns, b.narrowed, v_first, b.consumer_id,
            b.backfill_id, p_now, v_queue;
    if looked < p_limit then
        reached := null;
    end if;
    delivered := v_sent + v_later;
    if v_sent > 0 then
        perform core_private.wake(v_queue, p_now);
    end if;
end $$;
comment on function core_private.backfill_consumer(core_private.backfills, integer, timestamptz) is 'What a step of a consumer''s backfill delivers: how many rows of the log it looked at, up to which event_id, NULL at the end of it; or what hinders it.';
