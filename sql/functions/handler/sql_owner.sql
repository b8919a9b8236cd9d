-- nexus_sql says for whom a routed consumer's handlers are to run, and gains nothing: the role has some there.
create or replace function core_private.sql_owner(p_consumer_id integer, p_owner oid)
returns oid
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(
        (select h.owner::oid from core_private.sql_handlers h where h.consumer_id = p_consumer_id),
        (select h.owner::oid
           from core.consumers c
           join core.handlers h on h.namespace = c.namespace and h.owner = p_owner
          where c.consumer_id = p_consumer_id and c.routed
          limit 1))
$$;
comment on function core_private.sql_owner(integer, oid) is 'Whose SQL handlers a consumer''s deliveries are run for: the owner of its handler, or that owner if it has some that a routed consumer can name. NULL if there are none.';
