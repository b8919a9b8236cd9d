with policy as (
  select p.polrelid, p.polname,
         format('%s %s %s %s', p.polcmd, p.polroles, p.polpermissive,
           concat_ws(' check ', pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))) as definition
    from pg_policy p
),
model as (
  select p.polname, p.definition from policy p where p.polrelid = to_regclass('core_private.queue_model')
),
queue as (
  select q.queue_name, q.namespace, c.oid, c.relname, format('pgmq.%I', c.relname) as name, c.relrowsecurity, c.relforcerowsecurity,
         coalesce(c.relacl, acldefault('r', c.relowner)) as acl
    from core.queues q
   cross join (values ('q'), ('a')) k (kind)
    join pg_class c on c.relnamespace = to_regnamespace('pgmq') and c.relname = k.kind || '_' || q.queue_name
)
select format('row security of %s is off', q.name), q.queue_name, '' from queue q where not q.relrowsecurity
union all
select format('row security of %s is forced', q.name), q.queue_name, format('alter table %s no force row level security;', q.name)
  from queue q
 where q.relforcerowsecurity
union all
select format('policies of %s are not as they were made', q.name), q.queue_name, ''
  from queue q
 where exists (
         select from model m
          where not exists (
                  select from policy p
                   where p.polrelid = q.oid and p.polname = m.polname
                     and p.definition = replace(m.definition, quote_literal('?'), quote_literal(q.namespace))))
union all
select format('policy %I on %s was added', p.polname, q.name), q.queue_name, format('drop policy %I on %s;', p.polname, q.name)
  from queue q
  join policy p on p.polrelid = q.oid
 where exists (select from model) and not exists (select from model m where m.polname = p.polname)
