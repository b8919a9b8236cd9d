-- D1, D7, D8: what a claim, a sweep and an empty poll cost does not grow with what is parked, delayed, hidden or handled by nobody.
-- Pages are counted, not time: 20,000 rows or more of each, which a walk over all would show.
-- holds: D1 (pages read, with and without statistics), D8
select core.create_namespace('shop');
select core_node.register_node('shop', 'n', true, '{mine,zz.*}');
create function pg_temp.pages(p_sql text) returns bigint language plpgsql as $$
declare v_plan jsonb;
begin
  execute 'explain (analyze, buffers, timing off, format json) ' || p_sql into v_plan;
  return (v_plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (v_plan #>> '{0,Plan,Shared Read Blocks}')::bigint;
end $$;
create function pg_temp.walk(p_relation regclass) returns bigint language sql as $$ select pg_relation_size(p_relation) / 8192 $$;
insert into core.parked (queue_name, event_type, msg_id, namespace, read_ct, enqueued_at, message, parked_at, lived)
select 'core_events_shop', 'other.' || g % 3, g, 'shop', 0, core.now(), jsonb_build_object('eventType', 'other.' || g % 3, 'pad', repeat('x', 300)), core.now(), '1 s' from generate_series(1, 20000) g;
insert into core.parked (queue_name, event_type, msg_id, namespace, read_ct, enqueued_at, message, parked_at, lived)
select 'core_events_shop', 'zz.1', g, 'shop', 0, core.now(), '{"eventType": "zz.1"}', core.now(), '1 s' from generate_series(60001, 60020) g;
insert into core.delayed (due_at, queue_name, event_type, message)
select core.now() + interval '1 day' + g * interval '1 s', 'core_events_shop', 'mine', jsonb_build_object('eventType', 'mine', 'pad', repeat('x', 300)) from generate_series(1, 20000) g;
insert into core.delayed (due_at, queue_name, event_type, message) select core.now(), 'core_events_shop', 'mine', '{"eventType": "mine"}' from generate_series(1, 20);
insert into pgmq.q_core_events_shop (msg_id, vt, read_ct, message) overriding system value
select 100000 + g, core.now() + interval '1 h', 1, jsonb_build_object('eventType', 'mine', 'pad', repeat('x', 300)) from generate_series(1, 30000) g;
insert into pgmq.q_core_events_shop (msg_id, vt, message) overriding system value
select 200000 + g, core.now(), jsonb_build_object('eventType', 'other.1', 'pad', repeat('x', 300)) from generate_series(1, 20000) g;
insert into pgmq.q_core_events_shop (msg_id, vt, message) overriding system value select 300000 + g, core.now(), '{"eventType": "mine"}' from generate_series(1, 50) g;
create temporary table cost (analyzed boolean, what text, pages bigint, most bigint);
create function pg_temp.measure(p_analyzed boolean) returns void language plpgsql as $$
declare r record;
begin
  for r in select * from (values
    ('an empty poll', $s$select core_node.claim('core_events_shop', '{nothing}', '{0}', 200, '30 s', 300051, 250)$s$, 100::bigint),
    ('a claim past hidden rows', $s$select core_node.claim('core_events_shop', '{mine}', '{0}', 200, '30 s', 0, 250)$s$, 2500),
    ('a claim among foreign types', $s$select core_node.claim('core_events_shop', '{nothing}', '{0}', 200, '30 s', 200001, 250)$s$, 400),
    ('a sweep past hidden rows', $s$select core_node.claim('core_events_shop', '{nothing}', '{0}', 200, '30 s', 0, 250, true)$s$, 400),
    ('a wide window', $s$select core_node.claim('core_events_shop', '{nothing}', '{0}', 200, '30 s', 200001, 2000)$s$, 250),
    ('a claim above the floor', $s$select core_node.claim('core_events_shop', '{mine}', '{0}', 5, '30 s', 300001, 5)$s$, 200),
    ('promotion of what is due', $s$select core_node.promote_delayed(10)$s$, 250),
    ('a search for unhandled types', $s$select core_private.park('core_events_shop', 'shop', '{mine,other.*}', 1000)$s$, 250),
    ('bringing back among other parked ones', $s$select core_private.pull_back('core_events_shop', '{zz.*}', 10)$s$, 250),
    ('looking for something to bring back', $s$select core_node.unpark('shop', 1)$s$, 200),
    ('nothing to give up', $s$select core_private.give_up_parked('core_events_shop', 'shop', 'default', '0', 100)$s$, 100)) v(what, sql, most)
  loop
    insert into cost select p_analyzed, r.what, min(pg_temp.pages(r.sql)), r.most from generate_series(1, 3);
  end loop;
end $$;
-- First each with what statistics a table has that was never analyzed, then with good ones.
select pg_temp.measure(false);
delete from cost; -- the first calls read the catalog
select pg_temp.measure(false);
analyze pgmq.q_core_events_shop, core.parked, core.delayed;
select pg_temp.measure(true);
select cmp_ok(pages, '<=', most, what || case when analyzed then ', with statistics' else ', without statistics' end) from cost;
select cmp_ok(min(pg_temp.walk(r)), '>', 800::bigint, 'what a walk over all would cost: ' || r) from unnest(array['core.parked', 'core.delayed', 'pgmq.q_core_events_shop']::regclass[]) r group by r;
