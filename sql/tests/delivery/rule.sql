-- Consumers are chosen by what core_private.matches says
-- holds: E1
select core.create_namespace('shop');
insert into core.consumers (namespace, name, patterns, queue_name)
select 'shop', 'c' || x.n, array['none', x.p], 'q' || x.n
  from unnest(array['*', 'a', 'a.*', 'a:*', 'a.b', 'a.b.*', 'a.b:*', 'ab.*', 'b.*', 'A.*', 'a/b.*']) with ordinality x(p, n);
create function pg_temp.chosen(p_types text[]) returns text language sql as $$
  select string_agg(c.name, ' ' order by c.consumer_id) from core_private.consumers_of('shop', p_types, false) c $$;
create function pg_temp.matching(p_types text[]) returns text language sql as $$
  select string_agg(c.name, ' ' order by c.consumer_id) from core.consumers c
   where c.namespace = 'shop' and c.name <> 'default'
     and exists (select from unnest(c.patterns) p cross join unnest(p_types) t where core_private.matches(p, t)) $$;
select is(pg_temp.chosen(array[t]), pg_temp.matching(array[t]), 'type ' || t)
  from unnest(array['a', 'a.', 'a.b', 'a:b', 'a.b.c', 'a.b:c', 'ab.c', 'a/b.c', 'A.b', 'b', 'b.', 'x', 'x-y', '.a']) t;
select is(pg_temp.chosen('{a.x,b,ab.c}'), pg_temp.matching('{a.x,b,ab.c}'), 'several types');
select is(pg_temp.chosen('{a.b}'), 'c1 c3 c5', 'exact, by prefix, and all');
