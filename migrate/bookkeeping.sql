-- What the installer remembers about this database. Nobody is granted any of it.

create table if not exists core_private.schema_migrations (
  version integer primary key,
  name text not null,
  sha256 text not null,
  applied_at timestamptz not null default now(),
  applied_by text not null default session_user
);
comment on table core_private.schema_migrations is 'The migrations that were applied, one row each.';
comment on column core_private.schema_migrations.version is 'number of the migration''s file';
comment on column core_private.schema_migrations.name is 'name of that file';
comment on column core_private.schema_migrations.sha256 is 'of the file';
comment on column core_private.schema_migrations.applied_at is 'when its transaction began';
comment on column core_private.schema_migrations.applied_by is 'login of the installer';

create table if not exists core_private.installed_objects (
  path text primary key,
  kind text not null,
  sha256 text not null,
  signatures text[] not null,
  definitions text[] not null,
  server_major integer not null,
  applied_at timestamptz not null default now(),
  constraint installed_objects_parallel check (cardinality(signatures) = cardinality(definitions))
);
comment on table core_private.installed_objects is 'The files that were applied and what each of them created.';
comment on column core_private.installed_objects.path is 'the file, relative to sql/';
comment on column core_private.installed_objects.signatures is 'functions or views that it created';
comment on column core_private.installed_objects.applied_at is 'when the transaction that applied it last began';
comment on column core_private.installed_objects.kind is 'function, view, grants or roles';
comment on column core_private.installed_objects.sha256 is 'of the file; the file is applied again when it differs';
comment on column core_private.installed_objects.definitions is
  'hash of each signature''s definition as the server printed it then; it differs when somebody edited the object in the database';
comment on column core_private.installed_objects.server_major is
  'major version of the server then; another one may print the same definition otherwise';

create table if not exists core_private.tolerated_drift (
  signature text primary key,
  reason text not null
);
comment on table core_private.tolerated_drift is 'Objects that this database may define otherwise than their files do.';
comment on column core_private.tolerated_drift.signature is 'the object';
comment on column core_private.tolerated_drift.reason is 'why it differs';

-- Every function and view of Nexus as it is now. xmin is that of the row which a create or replace always writes anew.
create or replace view core_private.installed_definitions as
select 'function' as kind,
       format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)) as signature,
       encode(sha256(convert_to(format('%s owner %s', pg_get_functiondef(p.oid), pg_get_userbyid(p.proowner)), 'UTF8')), 'hex')
         as definition,
       p.xmin as xid,
       p.oid as object
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
 where n.nspname in ('core', 'core_node', 'core_private') and p.prokind in ('f', 'p', 'w')
   and not exists (
     select from pg_depend d
      where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
union all
select 'view', format('%I.%I', n.nspname, c.relname),
       encode(sha256(convert_to(
         format('%s options %s owner %s', pg_get_viewdef(c.oid), c.reloptions, pg_get_userbyid(c.relowner)), 'UTF8')), 'hex'),
       w.xmin,
       c.oid
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_rewrite w on w.ev_class = c.oid and w.rulename = '_RETURN'
 where n.nspname in ('core', 'core_node', 'core_private') and c.relkind = 'v' and c.relname not in ('installed_definitions', 'guard');
comment on view core_private.installed_definitions is 'Every function and view of Nexus, with a hash of its present definition.';
comment on column core_private.installed_definitions.kind is 'function or view';
comment on column core_private.installed_definitions.signature is 'qualified name, of functions with the types of their arguments';
comment on column core_private.installed_definitions.definition is 'hash of its definition, options and owner';
comment on column core_private.installed_definitions.xid is 'transaction that wrote it last';
comment on column core_private.installed_definitions.object is 'its oid';

-- A hash of who may do what with the objects of Nexus, by which the installer sees whether the grants still stand.
-- Partitions come and go and are reached through their parents, so they don't count; nor does whether defaults are spelled
-- out, which a restore changes.
create or replace function core_private.grants_state()
returns text
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select encode(sha256(convert_to(coalesce(string_agg(g.line, E'\n' order by g.line collate "C"), ''), 'UTF8')), 'hex')
    from (
      select format('schema %s %s', nspname, coalesce(nspacl, acldefault('n', nspowner))) as line
        from pg_namespace
       where nspname in ('core', 'core_node', 'core_private')
       union all
      select format('function %s.%s(%s) %s', n.nspname, p.proname, oidvectortypes(p.proargtypes),
               coalesce(p.proacl, acldefault('f', p.proowner)))
        from pg_proc p
        join pg_namespace n on n.oid = p.pronamespace
       where n.nspname in ('core', 'core_node', 'core_private')
       union all
      select format('relation %s.%s %s', n.nspname, c.relname,
               coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's'::"char" else 'r' end, c.relowner)))
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
       where n.nspname in ('core', 'core_node', 'core_private') and c.relkind in ('r', 'p', 'v', 'm', 'S') and not c.relispartition
       union all
      select format('column %s.%s.%s %s', n.nspname, c.relname, a.attname, a.attacl)
        from pg_attribute a
        join pg_class c on c.oid = a.attrelid
        join pg_namespace n on n.oid = c.relnamespace
       where n.nspname in ('core', 'core_node', 'core_private') and not c.relispartition and a.attacl is not null
       union all
      select format('default %s %s %s', defaclobjtype, defaclnamespace, defaclacl)
        from pg_default_acl
       where defaclrole = 'nexus_owner'::regrole
    ) g
$$;
comment on function core_private.grants_state() is 'A hash of all grants on objects of Nexus.';

-- Notes that a file was applied and what it created: what this transaction wrote and no file before it has claimed.
create or replace function core_private.record_installed(p_path text, p_kind text, p_sha256 text)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan -- an installation asks hundreds of times, and to plan takes longer than to look
as $$
declare
  v_xid constant xid := pg_current_xact_id()::xid;
  v_since constant bigint := nullif(current_setting('nexus_installer.recorded', true), '')::bigint;
  v_command bigint;
  v_written oid[];
  v_signatures text[];
  v_definitions text[];
begin
  if p_kind in ('function', 'view') then
    -- Only what was written since the file before was noted: by then a new installation has written hundreds, and to name all of them
    -- after each file takes longer than to create them. Commands of a transaction are numbered.
    if p_kind = 'function' then
      select array_agg(p.oid) into v_written from pg_proc p where p.xmin = v_xid and p.cmin::text::bigint > coalesce(v_since, -1);
    else
      select array_agg(w.ev_class) into v_written from pg_rewrite w where w.xmin = v_xid and w.cmin::text::bigint > coalesce(v_since, -1);
    end if;
    select array_agg(d.signature order by d.signature), array_agg(d.definition order by d.signature)
      into v_signatures, v_definitions
      from core_private.installed_definitions d
     where d.kind = p_kind
       and d.object = any (v_written)
       and not exists (
         select from core_private.installed_objects o
          where o.applied_at = now() and o.path <> p_path and o.signatures @> array[d.signature])
       -- A change of owners also writes the row anew; what was taken back stays with its file.
       and (d.signature <> all (coalesce(nullif(current_setting('nexus_installer.taken_back', true), ''), '{}')::text[])
            or exists (select from core_private.installed_objects o where o.path = p_path and d.signature = any (o.signatures)));
    if v_signatures is null then
      raise exception '% created no % in core or core_private that no file before it created', p_path, p_kind
        using errcode = 'invalid_object_definition', hint = 'Name another thing in the file, or take it away.';
    end if;
  else
    v_signatures := array[p_kind];
    v_definitions := array[case p_kind when 'grants' then core_private.grants_state() else p_sha256 end];
  end if;
  insert into core_private.installed_objects as o (path, kind, sha256, signatures, definitions, server_major)
  values (p_path, p_kind, p_sha256, v_signatures, v_definitions, current_setting('server_version_num')::integer / 10000)
  on conflict (path) do update
    set kind = excluded.kind, sha256 = excluded.sha256, signatures = excluded.signatures, definitions = excluded.definitions,
        server_major = excluded.server_major, applied_at = excluded.applied_at
  returning o.cmin::text::bigint into v_command;
  perform set_config('nexus_installer.recorded', v_command::text, true);
end
$$;
comment on function core_private.record_installed(text, text, text) is 'Notes that the installer applied a file.';

create table if not exists core_private.trusted_roles (
  role text primary key,
  trusted_at timestamptz not null default now(),
  trusted_by text not null default session_user
);
comment on table core_private.trusted_roles is
  'Roles besides superusers and installers that may own or create what lies beside Nexus, as the installer was told.';
comment on column core_private.trusted_roles.role is 'name of the role';
comment on column core_private.trusted_roles.trusted_at is 'when its transaction began';
comment on column core_private.trusted_roles.trusted_by is 'login of the installer';

create table if not exists core_private.guarded (
  object text primary key,
  state text not null,
  restore text not null,
  server_major integer not null
);
comment on table core_private.guarded is
  'Row security, policies, triggers and rights as the last installation left them, each with the statements that put it back.';
comment on column core_private.guarded.object is 'what it is, and of which relation';
comment on column core_private.guarded.state is 'how it was';
comment on column core_private.guarded.restore is 'statements that put it back; empty where the file of grants does';
comment on column core_private.guarded.server_major is 'major version of the server then; another one may print the same otherwise';

-- What keeps rows apart and tables whole, as it is now. Partitions are reached through their parents. Triggers that call
-- somebody else's functions are somebody else's (theirs), and so are restrictive policies: Nexus has none, and they open nothing.
create or replace view core_private.guard as
-- include: guard_view.sql
;
comment on view core_private.guard is 'Row security, policies, triggers, indexes, constraints, columns and rights of the objects of Nexus as they are now.';
comment on column core_private.guard.object is 'what it is, and of which relation';
comment on column core_private.guard.state is 'how it is';
comment on column core_private.guard.restore is 'statements that make it so; empty for rights';
comment on column core_private.guard.removal is 'statement that takes it away; empty where there is none to give';
comment on column core_private.guard.theirs is 'whether it is somebody else''s, and stays as it is';

create table if not exists core_private.queue_model (
  namespace text primary key
);
comment on table core_private.queue_model is
  'Has no rows, and the policies that tables of queues have, to compare these with; it stands for the namespace ?.';
comment on column core_private.queue_model.namespace is 'there is no row';

-- How each table of a queue differs from what create_queue makes: from the policies of the model, which the same function
-- sets up, and by what grant_queue would change.
create or replace function core_private.queue_guard()
returns table (what text, queue_name text, removal text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
-- include: queue_guard.sql
  union all
  select format('rights on %s are not as they were given', q.name), q.queue_name,
         case when x.public then format('revoke all on %s from public;', q.name) else '' end
    from queue q
   cross join lateral (select exists (select from aclexplode(q.acl) a where a.grantee = 0) as public) x
   where x.public or exists (select from core_private.queue_grant_changes(q.queue_name) g where g.relation = q.relname);
end
$$;
comment on function core_private.queue_guard() is 'Tables of queues whose row security, policies or rights are not as they were made.';

-- Sweeps that somebody deleted, or that run something else than they were installed to.
create or replace function core_private.sweep_guard()
returns table (what text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regclass('core_private.sweeps') is null or to_regprocedure('core_private.wanted_sweeps()') is null
     or to_regprocedure('core_private.register_sweeps(text)') is null then
    return;
  end if;
  return query
  select format('sweep %s is gone', w.name) from core_private.wanted_sweeps() w
   where not exists (select from core_private.sweeps s where s.name = w.name)
  union all
  select format('sweep %s runs %s, before %s', w.name, s.function, w.function)
    from core_private.wanted_sweeps() w join core_private.sweeps s on s.name = w.name
   where s.function <> w.function;
end
$$;
comment on function core_private.sweep_guard() is 'Sweeps that are not registered as they have to be.';

-- What files created before and no file creates any more: it goes, or an old signature would stand beside the new one and
-- make calls ambiguous. What somebody else made is in no candidate's place; what others built on one is named and nothing
-- happens. Views go first, since they may use functions.
create or replace function core_private.drop_retired(p_paths text[], p_candidates text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_retired record;
  v_detail text;
  v_kept text[];
  v_details text[];
begin
  delete from core_private.installed_objects where kind in ('function', 'view') and path <> all (p_paths);
  for v_retired in
    select d.kind, d.signature
      from core_private.installed_definitions d
     where d.signature = any (p_candidates)
       and not exists (
         select from core_private.installed_objects o where o.kind = d.kind and d.signature = any (o.signatures))
       and not exists (select from core_private.tolerated_drift t where t.signature = d.signature)
     order by d.kind desc, d.signature desc
  loop
    begin
      execute format('drop %s %s', case v_retired.kind when 'view' then 'view' else 'routine' end, v_retired.signature);
    exception when dependent_objects_still_exist then
      get stacked diagnostics v_detail = pg_exception_detail;
      v_kept := v_kept || v_retired.signature;
      v_details := v_details || v_detail;
    end;
  end loop;
  if v_kept is not null then
    raise exception using errcode = 'NX506',
      message = format('%s is no part of Nexus any more, and something was built on it', array_to_string(v_kept, ', ')),
      detail = array_to_string(v_details, E'\n'),
      hint = 'Drop or change what the detail names, then: nexus-node migrate up';
  end if;
end
$$;
comment on function core_private.drop_retired(text[], text[]) is
  'Drops those of the candidates that no installed file creates any more.';

-- Notes what has to stay as it is now.
create or replace function core_private.record_guard()
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  delete from core_private.guarded;
  insert into core_private.guarded (object, state, restore, server_major)
  select g.object, g.state, g.restore, current_setting('server_version_num')::integer / 10000
    from core_private.guard g
   where not g.theirs;
$$;
comment on function core_private.record_guard() is 'Notes row security, policies, triggers and rights, to be compared with what is found later.';

-- One row a difference from what was noted, with the statement that puts it back; none where the file of grants does, and for
-- what is somebody else's (theirs), which stays.
create or replace function core_private.guard_drift()
returns table (what text, restore text, theirs boolean)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  with guard as (select * from core_private.guard),
  queue_guard as (select * from core_private.queue_guard()),
  sweep_guard as (select * from core_private.sweep_guard())
-- include: guard_drift.sql
$$;
comment on function core_private.guard_drift() is 'Row security, policies, triggers and rights that are not as the installer left them.';
