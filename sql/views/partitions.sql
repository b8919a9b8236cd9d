create or replace view core.partitions as
select p.partition_name collate "C" as partition_name, p.from_time, p.to_time, p.is_default,
       pg_catalog.pg_total_relation_size(p.relation) as bytes,
       (select greatest(c.reltuples, 0)::bigint from pg_catalog.pg_class c where c.oid = p.relation) as estimated_rows,
       p.is_month, p.owner
  from core_private.log_partitions() p;
comment on view core.partitions is 'Partitions of the event log with their bounds, sizes and estimated rows. is_month: the bounds are those of one month of UTC; owner: nexus_owner, unless somebody else made it.';
comment on column core.partitions.partition_name is 'Table in schema core.';
comment on column core.partitions.from_time is 'First emitted_at it takes; NULL for the default partition.';
comment on column core.partitions.to_time is 'First emitted_at it takes no more; NULL for the default partition.';
comment on column core.partitions.is_default is 'Whether it takes what no other one does.';
comment on column core.partitions.bytes is 'Size with indexes, in bytes.';
comment on column core.partitions.estimated_rows is 'Rows as of the last ANALYZE or VACUUM; 0 before the first.';
comment on column core.partitions.is_month is 'Whether its bounds are those of one month of UTC.';
comment on column core.partitions.owner is 'Role it belongs to.';
