-- What was emitted before the consumer was there bears an older generation, however late it commits. So it waits for
-- whoever may still emit with one, and then takes the log in order of event_id, up to the last id of then: what is not
-- there now will never be. Rows of other namespaces count, so that the work of a step is bounded.
--
-- Position and deliveries commit together: after a kill it goes on where it was.
create or replace function core_private.run_backfill(p_backfill_id bigint, p_limit integer)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
    v_now      timestamptz := core_private.now();
    b          core_private.backfills;
    v_queue    text;
    v_relation text;
    v_first    boolean;
    v_looked   bigint;
    v_last     bigint;
    v_sent     bigint;
    v_later    bigint;
begin
    select * into b from core_private.backfills x where x.backfill_id = p_backfill_id for update skip locked;
    if not found then
        return 'busy';
    elsif b.state = 'done' then
        return b.state;
    end if;
    if b.state = 'waiting' then
        b.awaited := case when b.awaited is null then core_private.alive_transactions()
                          else array(select unnest(b.awaited)
                                     intersect
                                     select unnest(core_private.alive_transactions())) end;
        if b.awaited <> '{}' then
            update core_private.backfills x set awaited = b.awaited where x.backfill_id = p_backfill_id;
            return 'waiting';
        end if;
        b.bound := (select s.last_value from core.event_id_seq s);
    end if;
    select c.queue_name, c.created_generation = b.generation
      into v_queue, v_first
      from core.consumers c
     where c.consumer_id = b.consumer_id;
    v_relation := core_private.queue_relation(v_queue);
    if to_regclass(v_relation) is null then
        return 'lost queue';
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
               and not c.metadata ? 'replyTo'
               and exists (select from unnest($8) x where core_private.matches(x, c.event_type))
               and ($9 is null or exists (select from unnest($9) x where core_private.matches(x, c.event_type)))
               and ($10 or not core_private.is_delivered_by(
                               $11, $12, c.event_type, coalesce(c.consumer_generation, 0), c.emitted_at))),
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
            returning 1)
        select (select count(*) from chunk), (select max(c.event_id) from chunk c),
               (select count(*) from sent), (select count(*) from later)
        $q$, v_relation, core_private.next_id_sql(v_queue, 'm.message'))
       into v_looked, v_last, v_sent, v_later
      using b.position, b.bound,
            case when b.from_time = '-infinity' then b.from_time else date_trunc('month', b.from_time, 'UTC') end,
            p_limit, b.namespace, b.from_time, b.generation, b.patterns, b.narrowed, v_first, b.consumer_id,
            b.backfill_id, v_now, v_queue;
    b.state := case when v_looked < p_limit then 'done' else 'running' end;
    update core_private.backfills x
       set state = b.state, awaited = '{}', bound = b.bound,
           position = case when b.state = 'done' then b.bound else v_last end,
           looked = x.looked + v_looked, delivered = x.delivered + v_sent + v_later,
           finished_at = case when b.state = 'done' then v_now end
     where x.backfill_id = p_backfill_id;
    if v_sent > 0 then
        perform core_private.wake(v_queue, v_now);
    end if;
    return b.state;
end $$;
comment on function core_private.run_backfill(bigint, integer) is 'One step of a backfill, of up to p_limit rows of the log. Returns waiting (for transactions of before), running, done, busy (somebody else is at it) or lost queue.';
