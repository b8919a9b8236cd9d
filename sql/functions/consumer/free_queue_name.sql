-- The queue of a consumer that was dropped may still be written to, by transactions that found it. Whoever comes after
-- it under its name gets a queue of another one meanwhile.
create or replace function core_private.free_queue_name(p_namespace text, p_consumer text)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue text := core_private.queue_name_for_consumer(p_namespace, p_consumer);
    v_other record;
    v_name  text;
    v_round integer := 0;
begin
    perform core_private.drop_left_queues(v_queue);
    select q.namespace, c.name, q.dropped_at
      into v_other
      from core.queues q
      left join core.consumers c on c.consumer_id = q.consumer_id
     where q.queue_name = v_queue;
    if not found then
        return v_queue;
    elsif v_other.dropped_at is not null then
        -- One with such a name may have been dropped as well, and be left as well.
        loop
            v_name := left(v_queue, 34) || '_' || left(md5(format('%s %s', v_queue, v_round)), 8);
            exit when not exists (select from core.queues q where q.queue_name = v_name);
            v_round := v_round + 1;
        end loop;
        return v_name;
    end if;
    raise exception using errcode = 'NX202', column = 'p_consumer',
        message = format('consumer %s would share the queue %s with consumer %s of namespace %s',
            quote_literal(p_consumer), v_queue, quote_nullable(v_other.name), quote_literal(v_other.namespace)),
        hint = '"-" and "_" are one in the name of a queue; choose another name.';
end $$;
comment on function core_private.free_queue_name(text, text) is 'The queue for a new consumer. Raises NX202.';
