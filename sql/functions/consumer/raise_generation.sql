-- The lock of this row is what one change of consumers waits for another by; emit reads it and waits for nobody.
create or replace function core_private.raise_generation(p_namespace text)
returns bigint
language sql
set search_path = pg_catalog, pg_temp
as $$
    update core.namespaces n
       set consumer_generation = n.consumer_generation + 1
     where n.namespace = p_namespace
    returning n.consumer_generation
$$;
comment on function core_private.raise_generation(text) is 'Begins another generation of the consumers of a namespace and returns it.';
