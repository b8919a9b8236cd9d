-- Looks where the event can be, from what is cheap and sure to what is bounded: the message by its id, where
-- that is known, else the first 10,000 messages of the queue.
create or replace function core.event_status(p_event_id bigint, p_thorough boolean = false)
returns table (
    consumer text, state text, queue_name text, msg_id bigint, attempt integer, due_at timestamptz,
    dead_letter_id bigint, detail text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now    timestamptz := core_private.now();
    v_names  text[] := core.visible_namespaces();
    v_limit  bigint := case when p_thorough then null else 10000 end;
    v_event  record;
    v_dead   record;
    v_msg_id  bigint;
    v_vt      timestamptz;
    v_read_ct integer;
    v_headers jsonb;
    v_at      timestamptz;
    v_ids    bigint[];
    v_sure   boolean;
    v_lost   boolean;
    v_looked bigint;
    v_done   bigint;
    v_since  boolean;
    r        record;
begin
    -- With a message id the consumer default had it, whether or not the namespace still has that.
    select m.*, case when m.message_id is not null then true end as by_default
      into v_event
      from (select e.namespace, e.event_type, e.event_uid, e.emitted_at,
                   coalesce(e.consumer_generation, 0) as generation, e.metadata ?| '{replyTo,toTriggers}' as requested,
                   case when e.metadata ->> 'messageId' ~ '^[0-9]{1,18}$'
                        then (e.metadata ->> 'messageId')::bigint end as message_id
              from core.event_log e
             where e.event_id = p_event_id and e.namespace = any (v_names) limit 1) m;
    -- A request runs once, and is nobody else's: core.request_status has it. What is for triggers alone goes to no
    -- consumer.
    if not found or v_event.requested then
        return;
    end if;
    for r in
        -- By the patterns of then, and by those of now, with which it may have been replayed.
        select c.consumer_id, c.name, c.queue_name, core_private.queue_relation(c.queue_name) as relation, m.matched,
               c.kind = 'ordered' as ordered
          from core.consumers c
          left join lateral (
            select p.patterns
              from core_private.consumer_patterns p
             where p.consumer_id = c.consumer_id and p.generation <= v_event.generation
             order by p.generation desc
             limit 1) h on true
         cross join lateral (
            select c.name = 'default' or exists (
                       select from unnest(coalesce(h.patterns, c.patterns)) x
                        where core_private.matches(x, v_event.event_type)) as matched,
                   exists (
                       select
                         from core_private.consumers_of(
                                  v_event.namespace, array[v_event.event_type], v_event.by_default) o
                        where o.consumer_id = c.consumer_id) as now) m
         where c.namespace = v_event.namespace and c.kind <> 'outbox' and (m.matched and c.name <> 'default' or m.now)
         order by c.consumer_id
    loop
        consumer := r.name; queue_name := r.queue_name;
        state := null; msg_id := null; attempt := null; due_at := null; dead_letter_id := null; detail := null;
        -- It was there when the event came, or a backfill of it takes the event: up to where that has come.
        select r.matched and x.created_generation <= v_event.generation
               and (x.created_generation > 0 or x.created_at <= v_event.emitted_at)
          into v_since
          from core.consumers x
         where x.consumer_id = r.consumer_id;
        select case when b.state = 'done' then p_event_id else b.position end
          into v_done
          from core_private.backfills b
         where b.consumer_id = r.consumer_id and v_event.generation < b.generation
           and v_event.emitted_at >= b.from_time
           and exists (
               select
                 from unnest(coalesce(b.narrowed, b.patterns)) p
                where core_private.matches(p, v_event.event_type))
         order by b.backfill_id
         limit 1;
        if not v_since and v_done is null then
            v_since := null;
        end if;
        v_lost := not r.ordered and to_regclass(r.relation) is null;
        select l.dead_letter_id, l.status, l.resolution, l.reason, l.last_error, l.resolved_by, l.attempts,
               l.replay_msg_id
          into v_dead
          from core.dead_letters l
         where l.event_uid = v_event.event_uid and l.namespace = v_event.namespace and l.consumer = r.name
           and l.source_kind in ('delivery', 'lane')
         order by l.dead_letter_id desc limit 1;
        v_ids := array_remove(
            array[case when r.name = 'default' then v_event.message_id end, v_dead.replay_msg_id], null);
        v_sure := r.name = 'default' and v_event.message_id is not null
              and (v_dead.resolution is distinct from 'replayed' or v_dead.replay_msg_id is not null);

        if r.ordered then
            select e.state, e.msg_id, e.attempt, e.due_at, e.sure
              into state, msg_id, attempt, due_at, v_sure
              from core_private.event_in_lanes(r.consumer_id, p_event_id, v_event.event_type, v_limit) e;
            if state is not null then
                return next;
                continue;
            end if;
            v_looked := 0; v_msg_id := null;
        elsif v_lost then
            v_msg_id := null; v_sure := false;
        else
            execute format($q$
                select q.msg_id, q.vt, q.read_ct, q.headers
                  from %s q
                 where q.msg_id = any ($1) and q.message ->> 'eventId' = $2
                 order by q.msg_id desc limit 1
                $q$, r.relation)
               into v_msg_id, v_vt, v_read_ct, v_headers using v_ids, p_event_id::text;
        end if;
        if v_msg_id is null and not v_sure and not v_lost and not r.ordered then
            execute format($q$
                with head as materialized (
                    select q.msg_id, q.vt, q.read_ct, q.headers, q.message ->> 'eventId' = $2 as it
                      from %s q
                     order by q.msg_id limit $1)
                select h.msg_id, h.vt, h.read_ct, h.headers, (select count(*) from head) as looked
                  from (select) one
                  left join head h on h.it limit 1
                $q$, r.relation)
               into v_msg_id, v_vt, v_read_ct, v_headers, v_looked using v_limit, p_event_id::text;
            v_sure := p_thorough or v_looked < v_limit;
        end if;
        if v_msg_id is not null then
            msg_id := v_msg_id;
            attempt := core_private.attempt_of(v_read_ct, v_headers);
            due_at := v_vt;
            state := case when v_vt <= v_now then 'visible'
                          when core_private.is_leased(v_vt, v_read_ct, v_headers) then 'in_flight'
                          else 'waiting' end;
            return next;
            continue;
        end if;
        select p.msg_id, core_private.attempt_of(p.read_ct, p.headers) as attempt, p.parked_at
          into v_msg_id, v_read_ct, v_at
          from core.parked p where p.event_id = p_event_id and p.queue_name = r.queue_name limit 1;
        if found then
            state := 'parked'; msg_id := v_msg_id; attempt := v_read_ct;
            detail := format('no live node handles its type; parked at %s', core_private.iso(v_at));
            return next;
            continue;
        end if;
        select d.due_at, d.msg_id, core_private.attempt_of(coalesce(d.read_ct, 0), d.headers)
          into v_at, v_msg_id, v_read_ct
          from core.delayed d where d.queue_name = r.queue_name and d.msg_id = any (v_ids) limit 1;
        if found then
            state := 'delayed'; due_at := v_at; msg_id := v_msg_id; attempt := v_read_ct;
            return next;
            continue;
        end if;
        with head as materialized (
            select d.due_at, d.message ->> 'eventId' = p_event_id::text as it
              from core.delayed d
             where d.queue_name = r.queue_name
             order by d.due_at limit v_limit)
        select h.due_at, (select count(*) from head) as looked
          into v_at, v_looked
          from (select) one
          left join head h on h.it limit 1;
        if v_at is not null then
            state := 'delayed'; due_at := v_at;
            return next;
            continue;
        end if;
        if v_dead.status in ('pending', 'reprocessing') then
            state := 'dead'; dead_letter_id := v_dead.dead_letter_id; attempt := v_dead.attempts;
            detail := format('%s: %s', v_dead.reason, left(v_dead.last_error, 200));
        elsif v_lost and coalesce(v_dead.resolution, 'replayed') = 'replayed'
              and v_since is not null then
            state := 'unknown'; detail := 'the table of its queue is missing';
        elsif not v_lost and not v_sure or v_looked >= v_limit then
            state := 'unknown';
            detail := format('not among the first %s messages of the queue; p_thorough => true reads them all',
                             v_limit);
        elsif v_dead.resolution <> 'replayed' then
            state := v_dead.resolution; dead_letter_id := v_dead.dead_letter_id; detail := 'by ' || v_dead.resolved_by;
        elsif v_since is null then
            continue; -- it came after the event
        elsif not v_since and v_done < p_event_id then
            state := 'waiting'; detail := 'its backfill has not come to the event yet';
        else
            state := 'settled'; dead_letter_id := v_dead.dead_letter_id;
        end if;
        return next;
    end loop;
end $$;
comment on function core.event_status(bigint, boolean) is 'What became of an event, for each consumer that it matches: visible (to be claimed now), waiting (on the queue, for its due time), in_flight, delayed, parked, dead, settled (handled, or removed), discarded, ignored, handled_by_handler, cancelled, or unknown where the queue is too long to look through, or has lost its table; p_thorough reads it whole. No rows: no such event that you may see.';
