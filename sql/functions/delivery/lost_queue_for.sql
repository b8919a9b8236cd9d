-- Callers ask this only once they know that some table is missing.
create or replace function core_private.lost_queue_for(p_namespace text, p_event_type text)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select c.queue_name
      from core_private.consumers_of(p_namespace, array[p_event_type]) c
     where c.kind = 'unordered' and to_regclass(core_private.queue_relation(c.queue_name)) is null
     order by c.consumer_id limit 1
$$;
comment on function core_private.lost_queue_for(text, text) is 'A queue without a table that an event of this type would go to; NULL if all are there.';
