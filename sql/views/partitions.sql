create or replace view core.partitions as
select p.partition_name collate "C" as partition_name, p.from_time, p.to_time, p.is_default,
       pg_catalog.pg_total_relation_size(p.relation) as bytes,
       (select greatest(c.reltuples, 0)::bigint from pg_catalog.pg_class c where c.oid = p.relation) as estimated_rows,
       p.is_month, p.owner
  from core_private.log_partitions() p;
comment on view core.partitions is 'Partitions of the event log with their bounds, sizes and estimated rows. is_month: the bounds are those of one month of UTC; owner: nexus_owner, unless somebody else made it.';
