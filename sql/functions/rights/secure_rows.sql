-- Readers see the rows of the namespaces they may see. The sub-select is evaluated once a query, not once a row, and
-- current_user is who asks: a function that another role's statement runs for a table's owner sees what the owner may.
-- A policy of before is replaced.
--
-- What was done to no namespace concerns all, and an administrator sees of the audit log also what was done to
-- namespaces that are gone.
create or replace function core_private.secure_rows()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_table record;
    v_queue text;
begin
    for v_table in
        select c.oid::regclass as name,
               exists (
                   select
                     from pg_attribute a
                    where a.attrelid = c.oid and a.attname = 'namespace' and not a.attisdropped) as own,
               p.oid is not null as has_policy
          from pg_class c
          left join pg_policy p on p.polrelid = c.oid and p.polname = 'visible'
         where c.relnamespace = 'core'::regnamespace and c.relkind in ('r', 'p')
           and not c.relispartition and c.relrowsecurity
           and (p.oid is null or pg_get_expr(p.polqual, p.polrelid) like '%core.visible_namespaces()%')
    loop
        execute format('%s policy visible on %s using (%s)',
            case when v_table.has_policy then 'alter' else 'create' end,
            v_table.name,
            case when v_table.name = 'core.audit_log'::regclass
                 then 'namespace is null or (select pg_has_role(current_user, ''nexus_admin'', ''member''))'
                      ' or namespace = any ((select core_private.namespaces_read_by(current_user))::text[])'
                 when v_table.own
                 then 'namespace = any ((select core_private.namespaces_read_by(current_user))::text[])'
                 else 'queue_name in (select q.queue_name from core.queues q)' end);
    end loop;
    for v_queue in
        select q.queue_name
          from core.queues q
         where exists (
             select
               from pg_policy p
              where p.polrelid = to_regclass(core_private.queue_relation(q.queue_name)) and p.polname = 'nexus_read'
                and pg_get_expr(p.polqual, p.polrelid) like '%core.visible_namespaces()%')
         order by q.queue_name
    loop
        perform core_private.secure_queue(v_queue);
    end loop;
end $$;
comment on function core_private.secure_rows() is 'Adds the policy by namespace to tables that lack it, and replaces those of an earlier version, of queues too.';
