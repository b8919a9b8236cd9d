-- What the installer remembers about this database. Nobody is granted any of it.

create table if not exists core_private.schema_migrations (
  version integer primary key,
  name text not null,
  sha256 text not null,
  applied_at timestamptz not null default now(),
  applied_by text not null default session_user
);
comment on table core_private.schema_migrations is 'The migrations that were applied, one row each.';

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

-- Every function and view of Nexus as it is now. xmin is that of the row which a create or replace always writes anew.
create or replace view core_private.installed_definitions as
select 'function' as kind,
       format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)) as signature,
       encode(sha256(convert_to(format('%s owner %s', pg_get_functiondef(p.oid), pg_get_userbyid(p.proowner)), 'UTF8')), 'hex')
         as definition,
       p.xmin as xid
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
 where n.nspname in ('core', 'core_private') and p.prokind in ('f', 'p', 'w')
   and not exists (
     select from pg_depend d
      where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
union all
select 'view', format('%I.%I', n.nspname, c.relname),
       encode(sha256(convert_to(
         format('%s options %s owner %s', pg_get_viewdef(c.oid), c.reloptions, pg_get_userbyid(c.relowner)), 'UTF8')), 'hex'),
       w.xmin
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_rewrite w on w.ev_class = c.oid and w.rulename = '_RETURN'
 where n.nspname in ('core', 'core_private') and c.relkind = 'v' and c.relname <> 'installed_definitions';
comment on view core_private.installed_definitions is 'Every function and view of Nexus, with a hash of its present definition.';

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
       where nspname in ('core', 'core_private')
       union all
      select format('function %s.%s(%s) %s', n.nspname, p.proname, oidvectortypes(p.proargtypes),
               coalesce(p.proacl, acldefault('f', p.proowner)))
        from pg_proc p
        join pg_namespace n on n.oid = p.pronamespace
       where n.nspname in ('core', 'core_private')
       union all
      select format('relation %s.%s %s', n.nspname, c.relname,
               coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's'::"char" else 'r' end, c.relowner)))
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
       where n.nspname in ('core', 'core_private') and c.relkind in ('r', 'p', 'v', 'm', 'S') and not c.relispartition
       union all
      select format('column %s.%s.%s %s', n.nspname, c.relname, a.attname, a.attacl)
        from pg_attribute a
        join pg_class c on c.oid = a.attrelid
        join pg_namespace n on n.oid = c.relnamespace
       where n.nspname in ('core', 'core_private') and not c.relispartition and a.attacl is not null
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
as $$
declare
  v_signatures text[];
  v_definitions text[];
begin
  if p_kind in ('function', 'view') then
    select array_agg(d.signature order by d.signature), array_agg(d.definition order by d.signature)
      into v_signatures, v_definitions
      from core_private.installed_definitions d
     where d.kind = p_kind
       and d.xid = pg_current_xact_id()::xid
       and not exists (
         select from core_private.installed_objects o
          where o.applied_at = now() and o.path <> p_path and d.signature = any (o.signatures));
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
        server_major = excluded.server_major, applied_at = excluded.applied_at;
end
$$;
comment on function core_private.record_installed(text, text, text) is 'Notes that the installer applied a file.';
