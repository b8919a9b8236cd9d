-- Gives the node of the compose file a login of its own and a namespace. May run any number of times.
\set ON_ERROR_STOP on
\getenv password NODE_PASSWORD
\getenv namespace NODE_NAMESPACE

select 'create role nexus_node login'
 where not exists (select from pg_catalog.pg_roles where rolname = 'nexus_node')
\gexec
alter role nexus_node password :'password';
grant nexus_producer, nexus_consumer to nexus_node;

-- True if it was created now; an existing one is left as it is.
select core.create_namespace(:'namespace');
