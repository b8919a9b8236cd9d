-- For when something is known to be missing: whoever finds all tables asks no more.
create or replace function core_private.lost_queue_for(p_namespace text, p_event_type text)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select c.queue_name
      from core.consumers c join core.namespaces n on n.namespace = c.namespace
     where c.namespace = p_namespace and c.kind = 'unordered' and (c.name <> 'default' or n.default_consumer)
       and to_regclass(core_private.queue_relation(c.queue_name)) is null
       and exists (select from unnest(c.patterns) p where core_private.matches(p, p_event_type))
     order by c.consumer_id limit 1
$$;
comment on function core_private.lost_queue_for(text, text) is 'A queue without a table that an event of this type would go to; NULL if all are there.';
