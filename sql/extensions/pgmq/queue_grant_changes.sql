-- A role that may change or delete rows of a table may lock all of it, whatever row security says of its rows. So in
-- a restricted namespace only roles with a grant to operate get these rights, and elsewhere every operator. The right
-- to read takes no lock that anybody waits for.
create or replace function core_private.queue_grant_changes(p_queue text)
returns table (n integer, relation name, statement text)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
    with relation as (
        select c.oid, c.relowner, c.relname, coalesce(c.relacl, acldefault('r', c.relowner)) as acl
          from pg_class c
         where c.relnamespace = to_regnamespace('pgmq') and c.relname in ('q_' || p_queue, 'a_' || p_queue)),
    wanted as (
        select r.oid, g.grantee, p.privilege
          from core.queues q
          join core.namespaces n on n.namespace = q.namespace
         cross join relation r
         cross join lateral (
            select 'nexus_operator'::regrole::oid as grantee where not n.restricted
             union
            select 'nexus_admin'::regrole::oid where n.restricted
             union
            select x.role::oid from core.namespace_grants x join pg_roles l on l.oid = x.role
             where n.restricted and x.namespace = n.namespace and x.duty = 'operate') g
         cross join (values ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) p (privilege)
         where q.queue_name = p_queue
         union
        select r.oid, o.grantee, 'SELECT'
          from relation r
         cross join (values ('nexus_reader'::regrole::oid), ('nexus_operator'::regrole::oid)) o (grantee)
         where r.relname = 'q_' || p_queue or o.grantee = 'nexus_operator'::regrole::oid),
    given as (
        select r.oid, a.grantee, a.privilege_type as privilege
          from relation r cross join aclexplode(r.acl) a
         where a.grantor = r.relowner and a.grantee not in (0, r.relowner)),
    -- Grants that an administrator gave to roles of his own stay; those that stood for a duty go with it.
    ours as (
        select g.* from given g
         where g.grantee in (to_regrole('nexus_operator'), to_regrole('nexus_admin'), to_regrole('nexus_reader'),
                             to_regrole('nexus_producer'), to_regrole('nexus_consumer'), to_regrole('nexus_sql'))
            or exists (select from core_private.queue_grants x where x.queue_name = p_queue and x.role = g.grantee))
    select 1, (select r.relname from relation r where r.oid = o.oid),
           format('revoke %s on %s from %s', o.privilege, o.oid::regclass, o.grantee::regrole)
      from (select * from ours except select * from wanted) o
     union all
    select 2, (select r.relname from relation r where r.oid = w.oid),
           format('grant %s on %s to %s', w.privilege, w.oid::regclass, w.grantee::regrole)
      from (select * from wanted except select * from given) w
$$;
comment on function core_private.queue_grant_changes(text) is 'What differs on the tables of a registered queue from the rights that those have who operate its namespace, as statements.';
