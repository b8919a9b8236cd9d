create or replace function core_private.max_trigger_depth()
returns integer
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select 8
$$;
comment on function core_private.max_trigger_depth() is 'How deep in its chain an event may lie for triggers to fire: so ends a handler that makes what fired it.';
