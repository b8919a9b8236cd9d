-- The two queues that every namespace has, and those of its consumers. Deleting a consumer deletes the row of its
-- queue.
create or replace function core_private.unregistered_queues(p_namespace text)
returns table (queue_name text, consumer text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select w.queue_name, w.consumer
      from (select core.dead_letter_queue_name_for_namespace(p_namespace), null
            union
            select core.queue_name_for_namespace(p_namespace), 'default'
            union
            select c.queue_name, c.name
              from core.consumers c
             where c.namespace = p_namespace and c.queue_name is not null) w (queue_name, consumer)
     where not exists (
         select
           from core.queues q
          where q.queue_name = w.queue_name
            and (w.consumer is null or exists (select from core.consumers c where c.consumer_id = q.consumer_id)))
$$;
comment on function core_private.unregistered_queues(text) is 'Queues that a namespace has to have and that core.queues has no row of, each with its consumer; NULL: that of dead letters. Whoever calls it has asked whether the caller may know.';
