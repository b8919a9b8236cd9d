-- Creates the roles of Nexus where they are missing, and makes the installer able to become those that own objects.
--
-- Runs as the installer: a superuser or a role with CREATEROLE. Roles belong to the cluster while the installer's lock
-- belongs to a database, so another database may be creating them at this moment; who comes second waits for the first and
-- then finds them there. Everything is looked at before it is changed, since an installer of a second database need not be
-- allowed to change roles that the first one made.
do $roles$
declare
  v_role record;
begin
  for v_role in
    select *
      from (values
        ('nexus_owner', 'nologin', 'inherit', 'owns every object of Nexus'),
        ('nexus_reader', 'nologin', 'inherit', 'reads the views and tables of Nexus'),
        ('nexus_producer', 'nologin', 'inherit', 'emits events'),
        ('nexus_consumer', 'nologin', 'inherit', 'runs nodes: claims and settles'),
        ('nexus_operator', 'nologin', 'inherit', 'replays and discards dead letters'),
        ('nexus_admin', 'nologin', 'inherit', 'creates and drops namespaces'),
        ('nexus_scheduler', 'login', 'inherit', 'owns the pg_cron jobs of Nexus'),
        ('nexus_guard', 'nologin', 'noinherit', 'calls SQL handlers and may do nothing else'),
        ('nexus_sql', 'login', 'noinherit', 'the login through which nodes run SQL handlers')
      ) r (name, login, inherit, purpose)
  loop
    if exists (select from pg_catalog.pg_roles where rolname = v_role.name) then
      continue;
    end if;
    begin
      execute format('create role %I %s %s', v_role.name, v_role.login, v_role.inherit);
      execute format('comment on role %I is %L', v_role.name, 'Nexus: ' || v_role.purpose);
    exception when duplicate_object or unique_violation then
      null;
    end;
  end loop;
end
$roles$;

-- The duties are siblings. An admin may do what every duty may, an operator reads what it operates.
do $duties$
declare
  v_grant record;
begin
  for v_grant in
    select *
      from (values
        ('nexus_reader', 'nexus_operator'),
        ('nexus_reader', 'nexus_admin'),
        ('nexus_producer', 'nexus_admin'),
        ('nexus_consumer', 'nexus_admin'),
        ('nexus_operator', 'nexus_admin')
      ) g (role, member)
     where not exists (
       select
         from pg_catalog.pg_auth_members m
        where m.roleid = g.role::regrole and m.member = g.member::regrole)
  loop
    begin
      execute format('grant %I to %I', v_grant.role, v_grant.member);
    exception when unique_violation then
      null;
    end;
  end loop;
end
$duties$;

-- The installer becomes the owners by SET ROLE. It inherits nothing from them where the server can tell the two apart.
do $installer$
declare
  v_has_set_option constant boolean := current_setting('server_version_num')::integer >= 160000;
  v_role name;
begin
  if (select rolsuper from pg_catalog.pg_roles where rolname = session_user) then
    return;
  end if;
  foreach v_role in array array['nexus_owner', 'nexus_scheduler', 'nexus_guard'] loop
    if not pg_has_role(session_user, v_role, case when v_has_set_option then 'set' else 'member' end) then
      execute format('grant %I to %I', v_role, session_user)
        || case when v_has_set_option then ' with set true, inherit false' else '' end;
    end if;
  end loop;
end
$installer$;

-- core.blockers names sessions of others. Where the installer may not grant this, the view says so.
do $stats$
begin
  if not pg_has_role('nexus_owner', 'pg_read_all_stats', 'member') then
    grant pg_read_all_stats to nexus_owner;
  end if;
exception when insufficient_privilege or unique_violation then
  null;
end
$stats$;
