-- What an operator does to deliveries begins here: they are found wherever they wait, and locked on
-- their queue. The first look goes by what is indexed; what it misses is looked for in all places with
-- one snapshot, since sweeps move messages from one to another meanwhile. Nothing waits for a row:
-- what somebody else has locked is looked at again, since he may just be done, and then left to him.
--
-- A lease is respected, unlike by a purge: who is named here may be handled right now, and its effects
-- could not be taken back.
--
-- Whoever writes to core.parked holds the queue's row of core_private.parking; only then is there no
-- other one to lock the rows for.
create or replace function core_private.take_deliveries(
    p_queue text, p_namespace text, p_consumer text, p_event_ids bigint[], p_parked boolean)
returns table (event_id bigint, msg_id bigint, read_ct integer, vt timestamptz, outcome text, detail text)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '1s'
set jit = off
as $$
#variable_conflict use_column
declare
    v_now     timestamptz := core_private.now();
    v_at      timestamptz := transaction_timestamp(); -- as pgmq has it
    v_todo    text[] := array(select distinct u.id::text from unnest(p_event_ids) u(id));
    v_again   text[];
    v_ids     bigint[];
    v_sure    text[];
    v_taken   bigint[] := '{}';
    v_parking boolean := false;
    v_event   text;
    v_msg_id  bigint;
    v_read_ct integer;
    v_vt      timestamptz;
    v_place   text;
    v_outcome text;
    v_since   timestamptz;
begin
    -- Where a message must be, if it is on the queue: the id that the log knows, or that of the last replay.
    with e as materialized (
        select l.event_id, l.event_uid,
               case when p_consumer = 'default' and l.metadata ->> 'messageId' ~ '^[0-9]{1,18}$'
                    then (l.metadata ->> 'messageId')::bigint end as message_id
          from core.event_log l
         where l.event_id = any (p_event_ids) and l.namespace = p_namespace),
    d as (
        select distinct on (e.event_id) e.event_id, l.resolution, l.replay_msg_id
          from e
          join core.dead_letters l on l.event_uid = e.event_uid
         where l.namespace = p_namespace and l.consumer = p_consumer and l.source_kind in ('delivery', 'trigger')
         order by e.event_id, l.dead_letter_id desc)
    select coalesce(array_agg(e.message_id) filter (where e.message_id is not null), '{}')
               || coalesce(array_agg(d.replay_msg_id) filter (where d.replay_msg_id is not null), '{}'),
           coalesce(array_agg(e.event_id::text) filter (
               where e.message_id is not null
                 and (d.resolution is distinct from 'replayed' or d.replay_msg_id is not null)), '{}')
      into v_ids, v_sure
      from e
      left join d using (event_id);

    for v_round in 1 .. 4 loop
        exit when v_todo = '{}';
        if p_parked and not v_parking
           and exists (
               select
                 from core.parked p
                where p.event_id = any (v_todo::bigint[]) and p.queue_name = p_queue) then
            begin
                perform from core_private.parking k where k.queue_name = p_queue for update;
                v_parking := true;
            exception when lock_not_available then
                null;
            end;
        end if;
        v_again := case when v_round = 1 then v_todo else '{}' end;
        for v_event, v_msg_id, v_read_ct, v_vt, v_place, v_outcome, v_since in execute format($q$
            with found as materialized (
                select 'queue' as place, q.ctid as tid, q.message ->> 'eventId' as event,
                       q.msg_id, q.read_ct, q.vt, q.headers, q.last_read_at
                  from %1$s q
                 where q.msg_id = any ($1) and q.msg_id <> all ($2)
                   and q.message ->> 'eventId' = any ($3)
                union all
                select 'queue', q.ctid, q.message ->> 'eventId', q.msg_id, q.read_ct, q.vt, q.headers, q.last_read_at
                  from %1$s q
                 where $4 and q.msg_id <> all ($1 || $2)
                   and q.message ->> 'eventId' = any (array(
                           select u from unnest($3) u except select u from unnest($5) u))
                union all
                select 'delayed', d.ctid, d.message ->> 'eventId',
                       d.msg_id, d.read_ct, d.due_at, d.headers, d.last_read_at
                  from core.delayed d
                 where $4 and d.queue_name = $6 and d.message ->> 'eventId' = any ($3)
                union all
                select 'parked', p.ctid, p.event_id::text, p.msg_id, p.read_ct, null, p.headers, p.last_read_at
                  from core.parked p
                 where p.event_id = any ($3::bigint[]) and p.queue_name = $6),
            judged as materialized (
                select f.*,
                       f.place = 'queue' and f.vt > $7
                           and core_private.is_leased(f.vt, f.read_ct, f.headers) as in_flight
                  from found f),
            held as materialized (
                select q.ctid as tid, q.msg_id, q.read_ct, q.vt, j.event
                  from judged j
                  join %1$s q on q.ctid = j.tid
                 where j.place = 'queue' and not j.in_flight
                 order by q.msg_id for update of q skip locked),
            held_delayed as materialized (
                select d.ctid as tid
                  from judged j
                  join core.delayed d on d.ctid = j.tid
                 where j.place = 'delayed'
                 order by d.delayed_id for update of d skip locked),
            from_delayed as (
                delete from core.delayed d
                 using held_delayed h
                 where d.ctid = h.tid
                returning d.delayed_id, d.msg_id, d.read_ct, d.enqueued_at, d.last_read_at, d.message, d.headers),
            from_parked as (
                delete from core.parked p
                 using judged j
                 where j.place = 'parked' and $8 and p.ctid = j.tid
                returning p.msg_id, p.read_ct, p.enqueued_at, p.last_read_at, p.message, p.headers),
            back as (
                insert into %1$s (msg_id, read_ct, enqueued_at, last_read_at, vt, message, headers)
                       overriding system value
                select case when g.msg_id is null or exists (select from %1$s x where x.msg_id = g.msg_id)
                            then %2$s else g.msg_id end,
                       coalesce(g.read_ct, 0), coalesce(g.enqueued_at, $10), g.last_read_at, $7, g.message, g.headers
                  from (select * from from_delayed union all select null, * from from_parked) g
                 order by g.delayed_id
                returning msg_id, read_ct, vt, message ->> 'eventId' as event)
            select h.event, h.msg_id, h.read_ct, h.vt, 'queue' as place, 'taken' as outcome, null::timestamptz as since
              from held h
            union all
            select b.event, b.msg_id, b.read_ct, b.vt, 'elsewhere', 'taken', null
              from back b
            union all
            select j.event, j.msg_id, j.read_ct, j.vt, j.place,
                   case when j.in_flight then 'in_flight'
                        when j.place = 'parked' and not $9 then 'parked'
                        else 'busy' end,
                   j.last_read_at
              from judged j
             where not (j.place = 'queue' and exists (select from held h where h.tid = j.tid))
               and not (j.place = 'delayed' and exists (select from held_delayed h where h.tid = j.tid))
               and not (j.place = 'parked' and $8)
            $q$, core_private.queue_relation(p_queue), core_private.next_id_sql(p_queue, 'g.message'))
            using v_ids, v_taken, v_todo, v_round > 1, v_sure, p_queue, v_now, v_parking, p_parked, v_at
        loop
            v_again := array_remove(v_again, v_event);
            if v_outcome = 'busy' and v_round < 4 then
                v_again := v_again || v_event;
                continue;
            end if;
            event_id := v_event::bigint; msg_id := v_msg_id; read_ct := v_read_ct; outcome := v_outcome;
            vt := case when v_place = 'queue' then v_vt end;
            detail := case v_outcome
                when 'in_flight' then
                    format('leased at %s, until %s', core_private.iso(v_since), core_private.iso(v_vt))
                when 'parked' then 'no live node handles its type'
                when 'busy' then coalesce(
                    (select format('in an express batch of node %s since %s', b.node_id, core_private.iso(b.opened_at))
                       from core_private.express_batches b
                      where b.queue_name = p_queue and b.died_at is null
                        and v_place = 'queue' and v_msg_id between b.lowest and b.highest
                        and (b.msg_ids is null or v_msg_id = any (b.msg_ids))
                      order by b.opened_at desc limit 1),
                    'another transaction holds it') end;
            v_taken := v_taken || v_msg_id;
            return next;
        end loop;
        v_todo := v_again;
    end loop;
end $$;
comment on function core_private.take_deliveries(text, text, text, bigint[], boolean) is 'Finds the undelivered deliveries of events on a queue, delayed for it or, with p_parked, parked, and locks them on the queue, to which what waits elsewhere is brought. Outcome taken (vt: when it was due, NULL if it waited elsewhere), in_flight, parked, or busy: locked by somebody else. What is not found has no row. Raises NX110.';
