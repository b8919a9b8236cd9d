-- Nobody is waited for. What is enqueued from now on goes to the new lanes, and these wait: see lanes_wait.
create or replace function core.outbox_repartition(p_namespace text, p_queue text, p_lanes integer)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue record;
begin
    perform core_private.require_duty(p_namespace, 'operate');
    if p_lanes is null or p_lanes not between 1 and 4096 then
        raise exception using errcode = 'NX018', column = 'p_lanes',
            message = format('there cannot be %s lanes', coalesce(p_lanes::text, 'NULL')),
            hint = 'Give 1 to 4096. As many messages as there are lanes can be in hand at once.';
    end if;
    select * into v_queue from core_private.lanes_named(p_namespace, p_queue, true);
    if v_queue.lanes = p_lanes then
        return false;
    end if;
    insert into core_private.lane_cuts (consumer_id, generation) values (v_queue.consumer_id, v_queue.generation);
    update core.consumers c
       set lanes = p_lanes, generation = v_queue.generation + 1
     where c.consumer_id = v_queue.consumer_id;
    perform core_private.cut_lanes(v_queue.consumer_id, v_queue.generation + 1, p_lanes);
    perform core_private.audit('outbox_repartition', p_namespace, p_queue, null,
        jsonb_build_object('before', v_queue.lanes, 'lanes', p_lanes));
    return true;
end $$;
comment on function core.outbox_repartition(text, text, integer) is 'Gives an outbox queue or an ordered consumer another number of lanes, while traffic runs: true if it did, false if it has so many. The lanes of before are worked until they are empty, and only then the new ones, so that messages of a key stay in their order. That does not hold for transactions that had begun before the cut and enqueue or commit after it where they are REPEATABLE READ or SERIALIZABLE, or the queue is strict. Raises NX018, NX101, NX115, NX401, NX402.';
