create or replace view core.partitions as
select c.relname::text as partition_name,
       (regexp_match(b.bound, 'FROM \(''([^'']+)''\)'))[1]::timestamptz as from_time,
       (regexp_match(b.bound, 'TO \(''([^'']+)''\)'))[1]::timestamptz as to_time,
       b.bound = 'DEFAULT' as is_default,
       pg_catalog.pg_total_relation_size(c.oid) as bytes,
       greatest(c.reltuples, 0)::bigint as estimated_rows
  from pg_catalog.pg_inherits i
  join pg_catalog.pg_class c on c.oid = i.inhrelid
  cross join lateral (select pg_catalog.pg_get_expr(c.relpartbound, c.oid) as bound) b
 where i.inhparent = 'core.event_log'::regclass;
comment on view core.partitions is 'Partitions of the event log with their bounds, sizes and estimated rows.';
