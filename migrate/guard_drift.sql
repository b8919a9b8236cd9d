select x.what, x.restore, false
  from (
    select case
             when n.object is null and g.object ~ '^rights on (function|relation|sequence) ' then null
             when n.object is null then g.object || ' is gone'
             when g.object is null then n.object || ' was added'
             else format('%s: %s, before %s', g.object, left(n.state, 300), left(g.state, 300))
           end as what,
           case when g.object is null then n.removal else g.restore end as restore,
           coalesce(g.object, n.object) as object
      from core_private.guarded g
      full join (select * from guard where not theirs) n using (object)
     where n.state is distinct from g.state
       and (g.object is null and (n.removal <> '' or n.object like 'rights on column %' or n.object like 'rights on new %')
            or g.server_major = current_setting('server_version_num')::integer / 10000)
     ) x
 where x.what is not null
   and exists (select from core_private.guarded)
   and not exists (select from core_private.tolerated_drift t where t.signature = x.object)
union all
select q.what, format('%s select core_private.create_queue(%L);', q.removal, q.queue_name), false
  from queue_guard q
 where to_regclass('core.queues') is not null
union all
select w.what, 'select core_private.register_sweeps();', false from sweep_guard w
union all
select n.object, '', true
  from guard n
 where n.theirs
   and not exists (select from core_private.tolerated_drift t where t.signature = n.object)
 order by 1
