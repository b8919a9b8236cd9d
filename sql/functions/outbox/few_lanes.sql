create or replace function core_private.few_lanes()
returns integer
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select 64
$$;
comment on function core_private.few_lanes() is 'Up to how many lanes of a consumer it is cheaper to ask them all for work than to ask what came.';
