-- error: a column of a table, view or function's result with another word for what has one.
-- remedy: queue_name, event_type, and the states of core.queue_metrics.
with word(wrong, word) as (values ('queue', 'queue_name'), ('type', 'event_type')),
named as (
    select format('%s.%I', c.oid::regclass, a.attname) as what, a.attname as name
      from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace) and c.relkind in ('r', 'p', 'v') and a.attnum > 0 and not a.attisdropped
       and c.relname not in ('lane_status', 'lane_partitions') and c.relname not like 'outbox\_%' -- a queue of an outbox is what its users call it
     union all
    select format('%s of %s', x.name, p.oid::regprocedure), x.name
      from pg_proc p cross join lateral unnest(p.proargnames, p.proargmodes) x (name, mode)
     where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace) and x.mode in ('o', 't', 'b'))
select format('%s, for %s', n.what, w.word) from named n join word w on w.wrong = n.name
