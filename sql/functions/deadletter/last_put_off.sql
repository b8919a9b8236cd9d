-- A retry that was set aside has the number that it had on its queue, and counts for nothing here.
create or replace function core_private.last_put_off(p_namespace text)
returns timestamptz
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select max(l.due_at)
      from core.queues q
     cross join lateral (
         select d.due_at
           from core.delayed d
          where d.queue_name = q.queue_name and d.headers ? 'nexus-replay-of' and d.msg_id is null
          order by d.due_at desc limit 1) l
     where q.namespace = p_namespace
$$;
comment on function core_private.last_put_off(text) is 'When the last delivery is due that replays have put off in a namespace; NULL if none waits.';
