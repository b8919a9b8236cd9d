-- What Nexus created and does not belong to the role that it should: a dump was restored without owners, or somebody changed it.
-- The tables of registered queues are named by who calls.
with named (name, owner) as (
  select n.name, n.owner from unnest($names$, $owners$) n (name, owner)
),
present as (
  select 'schema' as kind, quote_ident(n.nspname) as name, n.nspowner as owner, 'nexus_owner' as wanted, 1 as turn
    from pg_namespace n
   where n.nspname in ('core', 'core_node', 'core_private')
  union all
  select case c.relkind when 'v' then 'view' when 'S' then 'sequence' when 'c' then 'type' else 'table' end,
         format('%I.%I', s.nspname, c.relname), c.relowner, 'nexus_owner', 2
    from pg_class c
    join pg_namespace s on s.oid = c.relnamespace
   where s.nspname in ('core', 'core_node', 'core_private') and c.relkind in ('r', 'p', 'v', 'm', 'S', 'c')
     and (format('%I.%I', s.nspname, c.relname) in (select n.name from named n)
          or c.relispartition and exists (
               select from pg_inherits i join pg_class p on p.oid = i.inhparent
                where i.inhrelid = c.oid and format('%s.%I', p.relnamespace::regnamespace, p.relname) in (select n.name from named n)))
     and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'i' and c.relkind = 'S')
  union all
  select 'routine', format('%I.%I(%s)', s.nspname, p.proname, oidvectortypes(p.proargtypes)), p.proowner, n.owner, 3
    from pg_proc p
    join pg_namespace s on s.oid = p.pronamespace
    join named n on n.name = format('%I.%I(%s)', s.nspname, p.proname, oidvectortypes(p.proargtypes))
  union all
  select 'table', format('%I.%I', s.nspname, c.relname), c.relowner, 'nexus_owner', 4
    from pg_class c
    join pg_namespace s on s.oid = c.relnamespace
   where s.nspname = 'pgmq' and c.relkind in ('r', 'p')
     and c.relname in (select k.kind || '_' || q.name from unnest($queues$) q (name) cross join (values ('q'), ('a')) k (kind))
)
select p.kind || ' ' || p.name as object, pg_get_userbyid(p.owner)::text as owner, p.wanted,
       format('alter %s %s owner to %I;', p.kind, p.name, p.wanted) as statement,
       r.rolsuper or (pg_has_role(r.oid, p.owner, 'usage') and coalesce(pg_has_role(r.oid, w.oid, 'member'), false)) as can
  from present p
  join pg_roles r on r.rolname = session_user
  left join pg_roles w on w.rolname = p.wanted
 where w.oid is distinct from p.owner
 order by p.turn, p.name
