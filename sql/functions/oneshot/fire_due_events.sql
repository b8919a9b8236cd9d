-- Events that have failed before are tried alone and last, so that they hold nobody up. Others go by the chunk: of one
-- namespace, at most 1,000 of them, about 32 MB; a hundred chunks or ten seconds a call, which bounds the queues whose
-- locks it holds.
--
-- Most claims begin at the floor, five minutes before the last claim that looked at everything. No row is written below
-- it, since due_at is never before the time of writing, and only a transaction that runs longer commits one there. Once
-- a minute a claim looks at everything.
create or replace function core.fire_due_events(p_limit integer = 1000)
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_state core_private.fire_floor;
    v_floor timestamptz := '-infinity';
    v_sweep boolean;
    v_closed text[] := core_private.closed_namespaces();
    v_seen  integer := 0;
    v_fired integer := 0;
    v_sets  integer := 0;
    v_begin timestamptz := clock_timestamp();
    r       record;
begin
    perform core_private.check_number(p_limit, 'p_limit', 1, 10000);
    select * into v_state from core_private.fire_floor f;
    -- A clock that was set back leaves the floor in the future.
    v_sweep := v_now not between v_state.swept_at and v_state.swept_at + interval '1 minute';
    if not v_sweep then
        v_floor := v_state.floor;
    end if;
    for r in
        with due as materialized (
            select e.schedule_id, e.namespace, e.due_at, e.payload_bytes,
                   case when e.attempts > 0 then e.schedule_id end as alone
              from core.scheduled_events e
             where e.status = 'pending'
               and e.due_at <= v_now and e.due_at >= v_floor
               and e.namespace <> all (v_closed)
             order by e.due_at
             limit p_limit
               for update skip locked),
        cut as (
            select d.*,
                   (sum(d.payload_bytes) over w - d.payload_bytes) / core_private.bytes_at_once() as by_bytes,
                   (row_number() over w - 1) / 1000 as by_rows
              from due d
            window w as (partition by d.namespace order by d.due_at, d.schedule_id))
        select c.namespace, array_agg(c.schedule_id order by c.due_at, c.schedule_id) as ids
          from cut c
         group by c.namespace, c.alone, c.by_bytes, c.by_rows
         order by c.alone nulls first, min(c.due_at), c.namespace
    loop
        v_seen := v_seen + cardinality(r.ids);
        v_fired := v_fired + core_private.fire_isolated('events', r.namespace, r.ids, v_now);
        v_sets := v_sets + 1;
        if v_sets >= 100 or clock_timestamp() - v_begin > interval '10 seconds' then
            v_sweep := false; -- there may be more
            exit;
        end if;
    end loop;
    if v_sweep and v_seen < p_limit and v_closed = '{}' then
        perform from core_private.fire_floor f where f.swept_at = v_state.swept_at for update skip locked;
        if found then
            update core_private.fire_floor f set floor = v_now - interval '5 minutes', swept_at = v_now;
        end if;
    end if;
    return v_fired;
end $$;
comment on function core.fire_due_events(integer) is 'Emits up to p_limit scheduled events that are due; returns how many it emitted. One that fails is tried again by the namespace''s retry policy, then given up as a dead letter; the others are not held up. Raises NX006, and errors that pass by themselves.';
