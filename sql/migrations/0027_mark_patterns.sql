-- core.emit asks first by what a pattern with * has in common with its types, so that most types that no trigger
-- matches cost one comparison. Those that match are spared the keys of filters where there are none.
update core.namespaces n
   set trigger_patterns = array(
           select u.p from unnest(n.trigger_patterns) u(p)
            union
           select '>' || case when u.p like '>%' then ''
                              else split_part(translate(u.p, ':', '.'), '.', 1) end
             from unnest(n.trigger_patterns) u(p)
            where u.p like '>%' or u.p like '_%*'
            union
           select '?'
            where exists (select from core_private.event_routes r
                           where r.namespace = n.namespace and r.filter_key > '')
            order by 1)
 where n.trigger_patterns is not null;

comment on column core.namespaces.trigger_patterns is 'The patterns of its enabled event triggers, and > with what stands before the first dot or colon of those with *; beyond 100 patterns only that of each, and >; beyond 100 of these *; ? says that some have filters with a key; NULL: it has none. Kept by a trigger of core_private.event_routes.';
