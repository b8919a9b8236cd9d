-- Waits for a parking under way, and with a new snapshot sees what that one parked: between the two nothing is overlooked.
create or replace function core.unpark(p_namespace text, p_limit integer = 5000)
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_total integer := 0;
    r       record;
begin
    perform core_private.require_duty(p_namespace, 'consume');
    if p_limit is null or p_limit not between 1 and 100000 then
        raise exception using errcode = 'NX006', column = 'p_limit', message = format('p_limit cannot be %s', coalesce(p_limit::text, 'NULL')), hint = 'Give 1 to 100000.';
    end if;
    for r in
        select k.queue_name, c.name as consumer
          from core_private.parking k join core.queues q on q.queue_name = k.queue_name join core.consumers c on c.consumer_id = q.consumer_id
         where q.namespace = p_namespace order by k.queue_name
    loop
        exit when v_total >= p_limit;
        perform from core_private.parking k where k.queue_name = r.queue_name for update;
        v_total := v_total + core_private.pull_back(r.queue_name, core_private.live_patterns(p_namespace, r.consumer, v_now), p_limit - v_total);
    end loop;
    return v_total;
end $$;
comment on function core.unpark(text, integer) is 'For nodes, after registering: puts up to p_limit parked messages of types that live nodes handle back on their queues; returns how many. Raises NX006, NX101, NX401, NX402.';
