create or replace function core_private.lane_partition_size()
returns bigint
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select 1000000::bigint
$$;
comment on function core_private.lane_partition_size() is 'How many messages of all lanes a partition has room for.';
