-- Readers see the rows of the namespaces they may see. The sub-select is evaluated once a query, not once a row.
create or replace function core_private.secure_rows()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_table record;
begin
    for v_table in
        select c.oid::regclass as name, exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'namespace' and not a.attisdropped) as own
          from pg_class c
         where c.relnamespace = 'core'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relrowsecurity
           and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'visible')
    loop
        execute format('create policy visible on %s using (%s)', v_table.name, case when v_table.own
            then 'namespace = any ((select core.visible_namespaces())::text[])'
            else 'queue_name in (select q.queue_name from core.queues q)' end);
    end loop;
end $$;
comment on function core_private.secure_rows() is 'Adds the policy by namespace to tables that lack it.';
