-- The one rule of who gets an event: the consumer default gets every one, if the namespace has it, others
-- what their patterns match. Not pinned, so that it is inlined; it names everything in full.
create or replace function core_private.consumers_of(p_namespace text, p_event_types text[], p_default boolean = null)
returns table (
    consumer_id integer, name text, kind text, queue_name text, patterns text[], created_at timestamptz,
    levels smallint)
language sql stable
as $$
    select c.consumer_id, c.name, c.kind, c.queue_name, c.patterns, c.created_at, c.levels
      from core.consumers c
     where c.namespace operator(pg_catalog.=) p_namespace
       and case
           when c.name operator(pg_catalog.=) 'default' then coalesce(p_default, (
               select n.default_consumer from core.namespaces n where n.namespace operator(pg_catalog.=) p_namespace))
           else exists (
               select from pg_catalog.unnest(c.patterns) p cross join pg_catalog.unnest(p_event_types) t
                where core_private.matches(p, t))
           end
$$;
comment on function core_private.consumers_of(text, text[], boolean) is 'The consumers that get events of one of these types, of every kind. p_default says whether "default" is one of them; NULL: as the namespace has it.';
