-- The one rule of who gets an event: the consumer default gets every one, if the namespace has it, others
-- what their patterns match, by the rule of core_private.matches: the patterns that match one of the types are listed
-- once, and compared with those of each consumer, of which there may be many. Not pinned, so that it is inlined; it
-- names everything in full.
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
           else c.patterns operator(pg_catalog.&&) (
               select pg_catalog.array_agg(pg_catalog.left(t, i) operator(pg_catalog.||) '*')
                          operator(pg_catalog.||) p_event_types operator(pg_catalog.||) '{*}'::pg_catalog.text[]
                 from pg_catalog.unnest(p_event_types) t
                cross join lateral pg_catalog.generate_series(1, pg_catalog.length(t)) i
                where pg_catalog.substr(t, i, 1) operator(pg_catalog.=) any (array['.', ':']))
           end
$$;
comment on function core_private.consumers_of(text, text[], boolean) is 'The consumers that get events of one of these types, of every kind. p_default says whether "default" is one of them; NULL: as the namespace has it.';
