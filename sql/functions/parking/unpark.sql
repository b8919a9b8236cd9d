-- p_types are those of somebody who handles them now and does not register, since he will be gone soon.
--
-- Waits for a parking under way, and with a new snapshot sees what that one parked: between the two
-- nothing is overlooked. What takes longer is no parking but a transaction that somebody left open;
-- the next sweep brings back what is passed over here.
create or replace function core_node.unpark(p_namespace text, p_limit integer = 5000, p_types text[] = null)
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '1s'
as $$
declare
    v_now   timestamptz := core_private.now();
    v_total integer := 0;
    r       record;
begin
    perform core_private.require_duty(p_namespace, 'consume');
    perform core_private.check_number(p_limit, 'p_limit', 1, 100000);
    perform core_private.check_types(p_types);
    for r in
        select k.queue_name, c.name as consumer
          from core_private.parking k
          join core.queues q on q.queue_name = k.queue_name
          join core.consumers c on c.consumer_id = q.consumer_id
         where q.namespace = p_namespace
           and to_regclass(core_private.queue_relation(k.queue_name)) is not null
         order by k.queue_name
    loop
        exit when v_total >= p_limit;
        begin
            perform from core_private.parking k where k.queue_name = r.queue_name for update;
            v_total := v_total + core_private.pull_back(
                r.queue_name,
                core_private.live_patterns(p_namespace, r.consumer, v_now)
                    || array(select unnest(p_types) where r.consumer = 'default'),
                p_limit - v_total);
        exception when lock_not_available then
            null;
        end;
    end loop;
    return v_total;
end $$;
comment on function core_node.unpark(text, integer, text[]) is 'For nodes, after registering: puts up to p_limit parked messages of types that live nodes handle back on their queues, and those of p_types (patterns) of the consumer default; returns how many. Raises NX006, NX008, NX101, NX401, NX402.';
