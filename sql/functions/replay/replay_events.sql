-- A step a call, so that each commits: position and deliveries do so together, and who calls again after a kill goes on
-- where it was. A second caller waits for the first one's row. The log is taken in order of event_id, up to the last id
-- of the first call: what is emitted meanwhile is delivered by its emit.
--
-- The rate is kept as the time up to which it is used up; what was not used for more than a second is lost.
create or replace function core.replay_events(
    p_namespace text, p_consumer text, p_filter jsonb, p_options jsonb = '{}')
returns table (
    replay_id text, state text, looked bigint, delivered bigint, done_to bigint, bound bigint, next_at timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_now      timestamptz := core_private.now();
    v_id       integer;
    v_consumer core.consumers;
    v_name     text;
    v_rate     text;
    v_every    interval;
    v_most     bigint;
    v_step     bigint := 5000;
    v_room     bigint;
    v_relation text;
    v_where    text;
    v_from     timestamptz;
    v_until    timestamptz;
    v_ids      bigint[];
    v_looked   bigint;
    v_last     bigint;
    v_sent     bigint;
    v_sent_to  bigint;
    v_more     boolean;
    v_deliver  text;
    r          core_private.replays;
begin
    perform core_private.require_duty(p_namespace, 'operate');
    perform core_private.check_replay_filter(p_filter);
    select o.name, o.most, o.rate, o.step
      into v_name, v_most, v_rate, v_step
      from core_private.parse_replay_options(p_options) o;
    v_id := core_private.require_consumer(p_namespace, p_consumer);
    perform core_private.refuse_outbox(v_id);
    select c.* into v_consumer from core.consumers c where c.consumer_id = v_id;
    v_from := coalesce((p_filter ->> 'from')::timestamptz, '-infinity');
    v_until := coalesce((p_filter ->> 'until')::timestamptz, 'infinity');
    v_ids := array(select x::text::bigint from jsonb_array_elements(p_filter -> 'event_ids') x);
    v_relation := core_private.queue_relation(v_consumer.queue_name);
    if v_consumer.kind <> 'ordered' and to_regclass(v_relation) is null then
        perform core_private.fail_lost_queue(v_consumer.queue_name);
    end if;
    v_where := concat_ws(' and ', $q$
        c.namespace = $1 and c.emitted_at >= $2 and c.emitted_at < $3
        and (c.deliver_at <= $4 or c.deliver_at is null) and not c.metadata ?| '{replyTo,toTriggers}'
        and exists (select from unnest($5) x where core_private.matches(x, c.event_type))$q$,
        case when p_filter ->> 'type' ~ '[.:][*]$' then 'core_private.matches($6 ->> ''type'', c.event_type)'
             when p_filter ->> 'type' <> '*' then 'c.event_type = $6 ->> ''type''' end,
        case when p_filter ? 'tag' then 'c.tags @> array[$6 ->> ''tag'']' end,
        case when p_filter ? 'ordering_key' then 'c.ordering_key = $6 ->> ''ordering_key''' end,
        case when p_filter ? 'correlation_id' then 'c.correlation_id = $6 ->> ''correlation_id''' end,
        case when p_filter ? 'event_ids' then 'c.event_id = any ($7)' end);

    if (p_options ->> 'dry_run')::boolean then
        execute format('select count(*) from (select from core.event_log c where %s limit $8) x', v_where)
           into v_sent
          using p_namespace, v_from, v_until, v_now,
                case when v_consumer.name = 'default' then '{*}' else v_consumer.patterns end,
                p_filter, v_ids, v_most;
        return query select v_name, 'dry run', null::bigint, v_sent, null::bigint, null::bigint, null::timestamptz;
        return;
    end if;

    insert into core_private.replays as x (
        namespace, replay_id, consumer_id, filter, most, rate, bound, created_by, created_at)
    values (
        p_namespace, v_name, v_id, p_filter, v_most, v_rate, (select s.last_value from core.event_id_seq s),
        core_private.principal(), v_now)
    on conflict do nothing;
    if found then
        perform core_private.audit('replay_events', p_namespace, p_consumer, null,
            jsonb_build_object('replay_id', v_name, 'filter', p_filter, 'options', p_options));
    end if;
    select x.* into r
      from core_private.replays x
     where x.namespace = p_namespace and x.replay_id = v_name
       for update;
    if (r.consumer_id, r.filter) <> (v_id, p_filter) or r.most is distinct from v_most then
        raise exception using errcode = 'NX216', column = 'replay_id',
            message = format('replay %s of namespace %s is one with another %s', quote_literal(v_name),
                quote_literal(p_namespace),
                case when r.consumer_id <> v_id then 'consumer' when r.filter <> p_filter then 'filter'
                     else 'limit' end),
            hint = 'Give the same ones to go on with it, or another replay_id.';
    end if;
    if r.finished_at is not null then
        return query select v_name, 'done', r.looked, r.delivered, r.position, r.bound, null::timestamptz;
        return;
    end if;

    v_room := least(v_step, r.most - r.delivered);
    if v_rate is not null then
        v_every := core_private.rate_interval(v_rate);
        r.paced_to := greatest(r.paced_to, v_now - greatest(interval '1 second', v_every));
        v_room := least(v_room, floor(extract(epoch from v_now - r.paced_to) / extract(epoch from v_every)));
        if v_room <= 0 then
            return query
                select v_name, 'running', r.looked, r.delivered, r.position, r.bound, r.paced_to + v_every;
            return;
        end if;
    end if;
    if v_consumer.kind = 'ordered' then
        perform pg_current_xact_id(); -- before an id is drawn
        v_deliver := $q$
        src as materialized (
            select (m.event).event_type, (m.event).headers,
                   core_private.logged_message(m.event) || jsonb_build_object('replay', $14::text) as message,
                   nextval('core_private.lane_message_id_seq') as id
              from (select * from mine where mine.n <= $13 order by mine.n) m)$q$
            || core_private.lanes_plan(v_id, 'id', '$4') || $q$,
        sent as (select from src)$q$;
    else
        v_deliver := format($q$
        sent as (
            insert into %s (msg_id, read_ct, enqueued_at, vt, message, headers) overriding system value
            select %s, 0, $4, $4,
                   core_private.logged_message(m.event) || jsonb_build_object('replay', $14::text), (m.event).headers
              from mine m
             where m.n <= $13
             order by m.n
            returning 1)$q$, v_relation,
            core_private.next_id_sql(v_consumer.queue_name, 'core_private.logged_message(m.event)'));
    end if;
    execute format($q$
        with chunk as materialized (
            select c.*, c as event
              from core.event_log c
             where c.event_id > $8 and c.event_id <= $9 and c.emitted_at >= $10 and c.emitted_at < $11%3$s
             order by c.event_id
             limit $12),
        mine as materialized (
            select c.event_id, c.event, row_number() over (order by c.event_id) as n
              from chunk c
             where %1$s
             order by c.event_id
             limit $13 + 1),
        %2$s
        select (select count(*) from chunk), (select max(c.event_id) from chunk c),
               (select count(*) from sent), (select max(m.event_id) from mine m where m.n <= $13),
               exists (select from mine m where m.n > $13)
        $q$, v_where, v_deliver, case when p_filter ? 'event_ids' then ' and c.event_id = any ($7)' end)
       into v_looked, v_last, v_sent, v_sent_to, v_more
      using p_namespace, v_from, v_until, v_now,
            case when v_consumer.name = 'default' then '{*}' else v_consumer.patterns end,
            p_filter, v_ids, r.position, r.bound,
            case when isfinite(v_from) then date_trunc('month', v_from, 'UTC') else v_from end,
            case when isfinite(v_until) then date_trunc('month', v_until, 'UTC') + interval '32 days'
                 else v_until end,
            v_step, v_room, v_name;
    r.delivered := r.delivered + v_sent;
    r.looked := r.looked + v_looked;
    if not v_more and v_looked < v_step or r.delivered = r.most then
        r.finished_at := v_now;
    end if;
    r.position := case when v_more or r.delivered = r.most then v_sent_to
                       when r.finished_at is not null then r.bound else v_last end;
    update core_private.replays x
       set position = r.position, looked = r.looked, delivered = r.delivered, finished_at = r.finished_at,
           rate = v_rate, paced_to = r.paced_to + v_every * v_sent
     where x.namespace = p_namespace and x.replay_id = v_name;
    if v_sent > 0 then
        perform core_private.wake(
            coalesce(v_consumer.queue_name, core_private.outbox_key(p_namespace, p_consumer)), v_now);
    end if;
    return query
        select v_name, case when r.finished_at is null then 'running' else 'done' end, r.looked, r.delivered,
               r.position, r.bound,
               case when v_more and v_rate is not null then r.paced_to + v_every * (v_sent + 1) end;
end $$;
comment on function core.replay_events(text, text, jsonb, jsonb) is 'Delivers events of the log to one consumer again, a step a call: call it, each time in a transaction of its own, until state is done, and after next_at where there is one. p_filter says which, of those that the consumer''s patterns match: type (a pattern), from, until, tag, ordering_key, correlation_id, event_ids. Options: replay_id (its name; a call with the same one goes on and delivers nothing twice), limit, rate (100/min), step (rows of the log looked at, 5000), dry_run (only counts). Handlers see the replay_id beside the event, whose ids are those it had. Raises NX004, NX005, NX008, NX009, NX101, NX102, NX110, NX216, NX401, NX402.';
