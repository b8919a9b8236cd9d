-- With the row of the queue goes what waits for it elsewhere. One that somebody has locked waits for another call.
create or replace function core_private.drop_left_queues(p_queue text = null)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
declare
    v_queue text;
    v_n     integer := 0;
begin
    for v_queue in
        select q.queue_name
          from core.queues q
         where q.dropped_at is not null and (p_queue is null or q.queue_name = p_queue)
           and not core_private.is_older_alive(q.dropped_xact)
         order by q.dropped_at, q.queue_name
         limit 20
    loop
        begin
            delete from core.queues q where q.queue_name = v_queue;
            delete from core_private.express_batches b where b.queue_name = v_queue;
            delete from core_private.wake_flags f where f.key = v_queue;
            perform core_private.drop_queue(v_queue);
            v_n := v_n + 1;
        exception when lock_not_available then
            null;
        end;
    end loop;
    return v_n;
end $$;
comment on function core_private.drop_left_queues(text) is 'Drops the queues of consumers that were dropped, as soon as nobody can write to them any more; returns how many.';
