-- The roles, whether the installer can become those that own objects, and whether it could grant itself that.
select r.name,
       p.oid is not null as exists,
       s.rolsuper or coalesce(pg_has_role(s.oid, p.oid, m.become), false) as can_become,
       s.rolsuper or (s.rolcreaterole and m.become = 'member')
         or coalesce(pg_has_role(s.oid, p.oid, 'member with admin option'), false) as can_grant,
       r.owns,
       coalesce((
         select array_agg(g.role)
           from unnest(r.member_of) g (role)
          where not exists (
            select from pg_auth_members a
             where a.member = p.oid and a.roleid = (select oid from pg_roles where rolname = g.role))), '{}') as not_member_of
  from (values
    ('nexus_owner', true, '{}'::text[]),
    ('nexus_scheduler', true, '{}'),
    ('nexus_guard', true, '{}'),
    ('nexus_reader', false, '{}'),
    ('nexus_producer', false, '{}'),
    ('nexus_consumer', false, '{}'),
    ('nexus_operator', false, '{nexus_reader}'),
    ('nexus_admin', false, '{nexus_reader,nexus_producer,nexus_consumer,nexus_operator}'),
    ('nexus_sql', false, '{}')
  ) r (name, owns, member_of)
  join pg_roles s on s.rolname = session_user
 cross join (select case when current_setting('server_version_num')::integer >= 160000 then 'set' else 'member' end) m (become)
  left join pg_roles p on p.rolname = r.name
