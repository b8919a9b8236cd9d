-- Emit reads it with the routes, so that a row of the log says which triggers it met; no lock stands between them.
create or replace function core_private.raise_trigger_generation(p_namespace text)
returns bigint
language sql
set search_path = pg_catalog, pg_temp
as $$
    update core.namespaces n
       set trigger_generation = n.trigger_generation + 1
     where n.namespace = p_namespace
    returning n.trigger_generation
$$;
comment on function core_private.raise_trigger_generation(text) is 'Begins another generation of the triggers of a namespace and returns it.';
