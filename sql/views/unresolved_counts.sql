-- A namespace at a time, from indexes alone, and no further than to what a badge can show.
create or replace view core.unresolved_counts with (security_barrier = true) as
select n.namespace, u.count as unresolved, c.count as claimed
  from core.namespaces n
 cross join lateral (
     select count(*)
       from (select from core.dead_letters l
              where l.namespace = n.namespace and l.resolved_at is null
              limit 10001) x) u
 cross join lateral (
     select count(*)
       from (select from core.dead_letters l
              where l.namespace = n.namespace and l.status = 'reprocessing' and l.deadline > (select core.now())
              limit 10001) x) c
 where n.namespace = any ((select core_private.namespaces_read_by(current_user))::text[]);
comment on view core.unresolved_counts is 'One row a namespace: how many dead letters wait for somebody. Exact up to 10,000; core.count_dead_letters counts all.';
comment on column core.unresolved_counts.namespace is 'The namespace they belong to.';
comment on column core.unresolved_counts.unresolved is 'Dead letters that nobody has resolved, claimed ones among them; 10,001 stands for more.';
comment on column core.unresolved_counts.claimed is 'How many of them somebody holds a claim on; 10,001 stands for more.';
