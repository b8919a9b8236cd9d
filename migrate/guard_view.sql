with relation as (
  select c.oid, format('%I.%I', n.nspname, c.relname) as name, c.relkind, c.relrowsecurity, c.relforcerowsecurity
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
   where n.nspname in ('core', 'core_node', 'core_private') and c.relkind in ('r', 'p', 'v', 'm') and not c.relispartition
)
select format('row security of %s', r.name) as object,
       format('%s, %s', case when r.relrowsecurity then 'on' else 'off' end,
         case when r.relforcerowsecurity then 'forced' else 'not forced' end) as state,
       format('alter table %s %s row level security, %s row level security;', r.name,
         case when r.relrowsecurity then 'enable' else 'disable' end,
         case when r.relforcerowsecurity then 'force' else 'no force' end) as restore,
       '' as removal,
       false as theirs
  from relation r
 where r.relkind in ('r', 'p')
union all
select format('policy %I on %s', p.polname, r.name), d.definition,
       format('drop policy if exists %I on %s; create policy %I on %s %s;', p.polname, r.name, p.polname, r.name, d.definition),
       format('drop policy if exists %I on %s;', p.polname, r.name), not p.polpermissive
  from pg_policy p
  join relation r on r.oid = p.polrelid
 cross join lateral (
   select concat_ws(' ', case when p.polpermissive then 'as permissive' else 'as restrictive' end,
            'for ' || case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
            'to ' || (select string_agg(case o.role when 0 then 'public' else quote_ident(pg_get_userbyid(o.role)) end, ', ')
                        from unnest(p.polroles) o (role)),
            'using (' || pg_get_expr(p.polqual, p.polrelid) || ')',
            'with check (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')') as definition) d
union all
select format('trigger %I on %s', t.tgname, r.name),
       format('%s (%s)', pg_get_triggerdef(t.oid), case t.tgenabled when 'O' then 'enabled' when 'D' then 'disabled' when 'A' then 'always' else 'for replicas' end),
       format('drop trigger if exists %I on %s; %s; %s', t.tgname, r.name, pg_get_triggerdef(t.oid),
         case t.tgenabled when 'O' then ''
              else format('alter table %s %s trigger %I;', r.name, case t.tgenabled when 'D' then 'disable' when 'A' then 'enable always' else 'enable replica' end, t.tgname) end),
       '', n.nspname not in ('core', 'core_node', 'core_private')
  from pg_trigger t
  join relation r on r.oid = t.tgrelid
  join pg_proc f on f.oid = t.tgfoid
  join pg_namespace n on n.oid = f.pronamespace
 where not t.tgisinternal
union all
-- Of indexes that somebody added only those that refuse rows are seen.
select format('index %I on %s', i.relname, r.name), concat(pg_get_indexdef(i.oid), case when not x.indisvalid then ' (not valid)' end),
       format('drop index if exists %I.%I; %s;', n.nspname, i.relname, replace(pg_get_indexdef(i.oid), ' ON ONLY ', ' ON ')),
       case when x.indisunique then format('drop index if exists %I.%I;', n.nspname, i.relname) else '' end, false
  from pg_index x
  join relation r on r.oid = x.indrelid
  join pg_class i on i.oid = x.indexrelid
  join pg_namespace n on n.oid = i.relnamespace
 where not exists (select from pg_constraint c where c.conindid = i.oid and c.contype in ('p', 'u', 'x'))
union all
-- Keys before those that refer to them: what is to be put back is in the order of these names.
select format('%s %I on %s', case c.contype when 'f' then 'foreign key' else 'constraint' end, c.conname, r.name), pg_get_constraintdef(c.oid),
       format('alter table %s drop constraint if exists %I, add constraint %I %s;', r.name, c.conname, c.conname, pg_get_constraintdef(c.oid)),
       format('alter table %s drop constraint if exists %I;', r.name, c.conname), false
  from pg_constraint c
  join relation r on r.oid = c.conrelid
 where c.contype in ('c', 'f', 'p', 'u', 'x')
union all
-- Whether and with what a row may leave it out. Of columns that somebody added only those are seen that every row has to have.
select format('column %I of %s', a.attname, r.name),
       concat(case when a.attnotnull then 'not null' else 'null' end, ' default ' || pg_get_expr(d.adbin, d.adrelid), i.identity),
       format('alter table %s alter column %I %s not null', r.name, a.attname, case when a.attnotnull then 'set' else 'drop' end)
         || case when a.attidentity = '' and a.attgenerated = ''
                 then format(', alter column %I %s', a.attname, coalesce('set default ' || pg_get_expr(d.adbin, d.adrelid), 'drop default')) else '' end || ';'
         || case when i.identity is null then '' else format(' alter table %1$s alter column %2$I drop identity if exists; alter table %1$s alter column %2$I add%3$s;'
                || ' select setval(pg_get_serial_sequence(%1$L, %4$L), coalesce(max(%2$I), 0) + 1, false) from %1$s;', r.name, a.attname, i.identity, a.attname) end,
       case when a.attnotnull and d.oid is null and a.attidentity = '' then format('alter table %s alter column %I drop not null;', r.name, a.attname) else '' end,
       false
  from pg_attribute a
  join relation r on r.oid = a.attrelid and r.relkind in ('r', 'p')
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
 cross join lateral (select case a.attidentity when 'a' then ' generated always as identity' when 'd' then ' generated by default as identity' end as identity) i
 where a.attnum > 0 and not a.attisdropped
union all
-- Rights of PUBLIC and the roles of Nexus; the file of grants puts them back. Those of others are theirs to give.
select format('rights on %s %s', o.kind, o.name), coalesce(h.held, 'none'), '', '', false
  from (
    select 'schema' as kind, quote_ident(n.nspname) as name, n.nspowner as owner, coalesce(n.nspacl, acldefault('n', n.nspowner)) as acl
      from pg_namespace n
     where n.nspname in ('core', 'core_node', 'core_private')
    union all
    select 'function', format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)), p.proowner,
           coalesce(p.proacl, acldefault('f', p.proowner))
      from pg_proc p
      join pg_namespace n on n.oid = p.pronamespace
     where n.nspname in ('core', 'core_node', 'core_private')
    union all
    select case c.relkind when 'S' then 'sequence' else 'relation' end, format('%I.%I', n.nspname, c.relname), c.relowner,
           coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's'::"char" else 'r' end, c.relowner))
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('core', 'core_node', 'core_private') and c.relkind in ('r', 'p', 'v', 'm', 'S') and not c.relispartition
    union all
    select 'column', format('%I.%I.%I', n.nspname, c.relname, a.attname), c.relowner, a.attacl
      from pg_attribute a
      join pg_class c on c.oid = a.attrelid
      join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('core', 'core_node', 'core_private') and not c.relispartition and a.attacl is not null
    union all
    select 'new objects of', format('%s in %s (%s)', pg_get_userbyid(d.defaclrole),
             case d.defaclnamespace when 0 then 'all schemas' else d.defaclnamespace::regnamespace::text end, d.defaclobjtype),
           d.defaclrole, d.defaclacl
      from pg_default_acl d
     where pg_get_userbyid(d.defaclrole) in ('nexus_owner', 'nexus_scheduler')) o
 cross join lateral (
   select string_agg(format('%s:%s', g.grantee, g.privilege), ', ' order by g.grantee, g.privilege) as held
     from (
       select case a.grantee when 0 then 'public' else r.rolname end as grantee,
              a.privilege_type || case when a.is_grantable then '*' else '' end as privilege
         from aclexplode(o.acl) a
         left join pg_roles r on r.oid = a.grantee
        where a.grantee <> o.owner and (a.grantee = 0 or r.rolname like 'nexus\_%')) g) h
 where h.held is not null or o.kind not in ('column', 'new objects of')
union all
select 'rights on new functions of nexus_owner',
       case when exists (
         select from pg_default_acl d
          where pg_get_userbyid(d.defaclrole) = 'nexus_owner' and d.defaclnamespace = 0 and d.defaclobjtype = 'f'
            and not exists (select from aclexplode(d.defaclacl) a where a.grantee = 0))
         then 'none' else 'public:EXECUTE' end, '', '', false
