-- D7: a pattern is a range of types
-- holds: D7
select core.create_namespace('shop');
select core_node.register_node('shop', 'n', true, '{zz}');
insert into core.parked (queue_name, event_type, msg_id, namespace, read_ct, enqueued_at, message, parked_at, lived)
select 'core_events_shop', t, n, 'shop', 0, core.now(), jsonb_build_object('eventType', t), core.now(), '0'
  from unnest(array['a', 'a.', 'a.b', 'a.b.c', 'a/b', 'a:', 'a:b', 'ab', 'A', 'b', 'a.~', '0', 'z-9']) with ordinality u(t, n) where t !~ '~';
create function pg_temp.back(p_patterns text[]) returns text language plpgsql as $$
declare v text;
begin
  perform core_private.pull_back('core_events_shop', p_patterns, 100);
  with back as (delete from pgmq.q_core_events_shop q returning q.*),
  again as (insert into core.parked (queue_name, event_type, msg_id, namespace, read_ct, enqueued_at, message, parked_at, lived)
            select 'core_events_shop', b.message ->> 'eventType', b.msg_id, 'shop', 0, b.enqueued_at, b.message, core.now(), '0' from back b)
  select string_agg(b.message ->> 'eventType', ' ' order by b.message ->> 'eventType' collate "C") into v from back b;
  return v;
end $$;
create temporary table types as select event_type as t from core.parked;
select is(pg_temp.back(array[p]), (select string_agg(t, ' ' order by t collate "C") from types where core_private.matches(p, t)), 'pattern ' || p)
  from unnest(array['a', 'a.*', 'a:*', 'A', 'ab', '*', 'a.b', 'a.b.*', '0', 'nothing', 'z-9']) p;
select is(pg_temp.back('{a,a.*,b}'), 'a a. a.b a.b.c b', 'several');
