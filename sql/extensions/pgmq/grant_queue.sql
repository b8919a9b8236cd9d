create or replace function core_private.grant_queue(p_queue text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_change record;
begin
    for v_change in
        select g.statement from core_private.queue_grant_changes(p_queue) g order by g.n, g.statement
    loop
        execute v_change.statement;
    end loop;
    delete from core_private.queue_grants x where x.queue_name = p_queue;
    insert into core_private.queue_grants (queue_name, role)
    select distinct p_queue, g.role
      from core.queues q join core.namespaces n on n.namespace = q.namespace
      join core.namespace_grants g on g.namespace = q.namespace and g.duty = 'operate'
      join pg_roles l on l.oid = g.role
     where q.queue_name = p_queue and n.restricted;
end $$;
comment on function core_private.grant_queue(text) is 'Gives the rights on the tables of a registered queue to those who operate its namespace, and takes back what they no longer need; safe to run again.';
