-- One owner a transaction: of a routed consumer each owner has a turn of his own.
create or replace function core_private.sql_work(p_namespace text = null, p_owner oid = null)
returns table (consumer_id integer, queue_name text, owner oid, routed boolean)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select c.consumer_id, coalesce(c.queue_name, core_private.outbox_key(c.namespace, c.name)), h.owner::oid, false
      from core_private.sql_handlers h
      join core.consumers c on c.consumer_id = h.consumer_id
     where c.state = 'active' and (p_namespace is null or c.namespace = p_namespace)
       and (p_owner is null or h.owner = p_owner)
    union all
    select distinct c.consumer_id, c.queue_name, h.owner::oid, true
      from core.handlers h
      join core.consumers c on c.namespace = h.namespace and c.routed
     where c.state = 'active' and h.owner is not null and (p_namespace is null or c.namespace = p_namespace)
       and (p_owner is null or h.owner = p_owner)
$$;
comment on function core_private.sql_work(text, oid) is 'The consumers that are not paused and have handlers in SQL, a row for each owner of some. queue_name is the key of their wake-ups, which of an ordered one is no queue.';
