-- It goes by the pattern and the filter of when it was asked for, and has the rest as the trigger has it now. Deep
-- events fired nothing, and fire nothing now.
--
-- A rate spreads deliveries by when they are due, up to a minute ahead, so that it holds however often a step is run;
-- what was not used of it is lost.
create or replace function core_private.backfill_trigger(
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
    v_enabled boolean;
    v_route   record;
    v_every   interval;
    v_room    bigint := p_limit;
    v_sent_to bigint;
    v_more    boolean;
    v_now_due boolean;
begin
    -- Whoever disables or deletes it meanwhile finds all of the step, or is found.
    select t.enabled into v_enabled from core.triggers t where t.trigger_id = b.trigger_id for share skip locked;
    if v_enabled is not true then
        hindered := case when v_enabled is null then 'busy' else 'disabled' end;
        return;
    end if;
    select * into v_route from core_private.event_routes r where r.trigger_id = b.trigger_id;
    if to_regclass(core_private.queue_relation(v_route.queue_name)) is null then
        hindered := 'lost queue';
        return;
    end if;
    if b.rate is not null then
        v_every := core_private.rate_interval(b.rate);
        paced_to := greatest(b.paced_to, p_now);
        v_room := least(p_limit, floor(extract(epoch from p_now + interval '1 minute' - paced_to)
                                       / extract(epoch from v_every)) + 1);
        if v_room <= 0 then
            hindered := 'paced';
            return;
        end if;
    end if;
    execute format($q$
        with chunk as materialized (
            select e.*, e as event
              from core.event_log e
             where e.event_id > $1 and e.event_id <= $2 and e.emitted_at >= $3
             order by e.event_id
             limit $4),
        found as materialized (
            select c.event_id, c.event_type, c.event, c.headers, c.deliver_at,
                   row_number() over (order by c.event_id) as n
              from chunk c
             where c.namespace = $5 and c.emitted_at >= $6
               and coalesce(c.trigger_generation, 0) >= $7 and coalesce(c.trigger_generation, 0) < $8
               and c.depth <= (select core_private.max_trigger_depth($5))
               and not c.metadata ?| '{replyTo,toTriggers}'
               and core_private.matches($9, c.event_type) and (c.payload @> $10 or $10 is null)
               and not core_private.is_fired_by($11, $12, coalesce(c.trigger_generation, 0), c.emitted_at)
             order by c.event_id
             limit $13 + 1),
        mine as materialized (
            select f.event_id,
                   core_private.logged_message(f.event)
                       || $14 || jsonb_build_object('sourceType', f.event_type) as message,
                   $15 || coalesce(f.headers, '{}') as headers,
                   greatest(f.deliver_at, $16 + coalesce($17, '0') * (f.n - 1)) as due_at
              from found f
             where f.n <= $13),
        sent as (
            insert into %1$s (msg_id, read_ct, enqueued_at, vt, message, headers) overriding system value
            select nextval(%2$L::regclass), 0, $18, $18, m.message, m.headers
              from (select * from mine x where x.due_at <= $18 order by x.event_id) m
            returning 1),
        later as (
            insert into core.delayed (due_at, queue_name, event_type, message, headers)
            select m.due_at, $19, $20, m.message, m.headers
              from mine m
             where m.due_at > $18)
        select (select count(*) from chunk), (select max(c.event_id) from chunk c),
               (select count(*) from mine), (select max(m.event_id) from mine m),
               exists (select from found f where f.n > $13), exists (select from sent)
        $q$, core_private.queue_relation(v_route.queue_name), core_private.queue_sequence(v_route.queue_name))
       into looked, reached, delivered, v_sent_to, v_more, v_now_due
      using b.position, b.bound,
            case when b.from_time = '-infinity' then b.from_time else date_trunc('month', b.from_time, 'UTC') end,
            p_limit, b.namespace, b.from_time, b.since_generation, b.generation, b.patterns[1], b.filter,
            b.trigger_id, b.backfill_id, v_room, v_route.marks, v_route.headers,
            coalesce(paced_to, p_now), v_every, p_now, v_route.queue_name, v_route.target;
    reached := case when v_more then v_sent_to when looked = p_limit then reached end;
    paced_to := paced_to + v_every * delivered;
    if v_now_due then
        perform core_private.wake(v_route.queue_name, p_now);
    end if;
end $$;
comment on function core_private.backfill_trigger(core_private.backfills, integer, timestamptz) is 'What a step of a trigger''s look back delivers: how many rows of the log it looked at, up to which event_id, NULL at the end of it; or what hinders it.';
