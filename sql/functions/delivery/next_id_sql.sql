create or replace function core_private.next_id_sql(p_queue text, p_message text)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select format('nextval(%L::regclass)', core_private.queue_sequence(p_queue))
           || case when c.levels > 1
                   then format(' + core_private.level_offset(%s, core_private.priority_of(%s))', c.levels, p_message)
                   else '' end
      from (select) one
      left join core.queues q on q.queue_name = p_queue
      left join core.consumers c on c.consumer_id = q.consumer_id
$$;
comment on function core_private.next_id_sql(text, text) is 'The expression that draws a message id for a queue, in the level of the message that p_message is an expression for.';
