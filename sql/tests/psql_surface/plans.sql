-- 11: look-ups by namespace, type, time and id use an index; the newest hundred of a type sort no month
-- holds: P1
select core.create_namespace('shop');
insert into core.event_log (event_id, namespace, event_type, payload, emitted_at)
select nextval('core.event_id_seq'), 'shop', 'type.' || g % 50, '{}', date_trunc('month', core.now()) + g * interval '1 second' from generate_series(1, 20000) g;
analyze core.event_log;
create function pg_temp.plan(p_sql text) returns text language plpgsql as $$
declare v_line text; v_all text := '';
begin
  for v_line in execute 'explain (costs off) ' || p_sql loop v_all := v_all || v_line || chr(10); end loop;
  return v_all;
end $$;
create temporary table plans as select v.name, pg_temp.plan(v.q) as plan from (values
  ('newest of a type', $$select * from core.event_log where namespace = 'shop' and event_type = 'type.7' order by emitted_at desc limit 100$$),
  ('one event', $$select * from core.event_log where event_id = 77$$),
  ('one type', $$select count(*) from core.event_log where namespace = 'shop' and event_type = 'type.7' and emitted_at > now() - interval '24 hours'$$),
  ('a minute', $$select count(*) from core.event_log where emitted_at between date_trunc('month', now()) + interval '1 minute' and date_trunc('month', now()) + interval '2 minutes'$$)) v(name, q);
select ok(plan ~ 'Index (Only )?Scan' or plan ~ 'Bitmap Index Scan', 'an index serves ' || name) from plans;
select is((select string_agg(substring(l from 'Seq Scan on \S+'), ' ') from plans, regexp_split_to_table(plan, '\n') l
            where l like '%Seq Scan%' and l like '%' || to_char(core.now(), 'YYYY_MM') || '%'), null, 'nobody reads the whole month');
select unalike((select plan from plans where name = 'newest of a type'), '%Sort  %', 'no sort');
select unalike((select plan from plans where name = 'newest of a type'), E'%-> Sort\n%', 'no sort below');
