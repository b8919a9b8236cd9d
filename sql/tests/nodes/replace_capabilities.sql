-- N1, D7: a node that runs handles other types from now on
-- holds: N1-changes
select core.create_namespace('shop');
create temporary table n as select * from core_node.register_node('shop', 'n', true, '{a,b}');
create function pg_temp.replace(p_types text[], p_consumers text[] = null, p_workflows text[] = null) returns boolean
language sql as $$ select core_node.replace_capabilities('n', n.incarnation, p_types, p_consumers, p_workflows) from n $$;
create function pg_temp.parked() returns text language sql as $$
  select coalesce(string_agg(event_type, ',' order by msg_id), '-') from core.parked $$;
create function pg_temp.can() returns text[] language sql as $$
  select array_agg(kind || ' ' || key order by kind, key) from core_private.node_capabilities where node_id = 'n' $$;
select core.emit_batch('shop', '{a,b,c}', '{1,2,3}');
select core_private.park_unhandled();
select is(pg_temp.parked(), 'c', 'what it does not handle is parked');
select ok(pg_temp.replace('{b,c}'), 'it handles others');
select is(pg_temp.parked(), '-', 'what was parked for want of them comes back at once');
select core_private.park_unhandled();
select is(pg_temp.parked(), 'a', 'what it no longer handles is parked, and nothing else');
select is(core_private.live_patterns('shop', 'default', core.now()), array['b', 'c'], 'as nodes see it');
select is((select capabilities from core.nodes where node_id = 'n'), '{"event_types": ["b", "c"]}', 'and people');
select ok(pg_temp.replace('{a,a,c.*}', '{default,default,default}', '{pay,"ship,it"}'), 'a pattern twice, and workflows');
select is(pg_temp.can(), array['event_type a', 'event_type c.*', 'workflow pay', 'workflow ship,it'], 'each is there once');
select is((select capabilities from core.nodes where node_id = 'n'), '{"event_types": ["a", "a", "c.*"], "workflows": ["pay", "ship,it"]}', 'shown, too');
-- refused, and nothing changed
select throws_ok($$select pg_temp.replace(null)$$, 'NX006', 'p_types is NULL', 'all types have to be given');
select throws_ok($$select pg_temp.replace('{a*b}')$$, 'NX008', null, 'patterns are checked');
select throws_ok($$select pg_temp.replace(array(select 't' || g from generate_series(1, 2001) g))$$, 'NX006', 'there are 2001 types, more than 2000', 'and bounded');
select throws_ok($$select pg_temp.replace('{a}', '{nobody}')$$, 'NX102', null, 'consumers are checked');
select throws_ok($$select pg_temp.replace('{a,b}', '{default}')$$, 'NX006', 'there are 2 types and 1 consumers', 'and parallel to the types');
select throws_ok($$select pg_temp.replace('{a}', null, array_fill('w'::text, array[2001]))$$, 'NX006', 'there are 2001 workflows, more than 2000', 'workflows are bounded');
select throws_ok($$select pg_temp.replace('{a}', null, '{two words}')$$, 'NX006', 'workflow ''two words'' cannot be used', 'and named');
select throws_ok($$select pg_temp.replace('{a}', null, '{null}')$$, 'NX006', 'workflow NULL cannot be used', 'all of them');
select ok(not core_node.replace_capabilities('n', gen_random_uuid(), '{x}'), 'not for another incarnation');
select ok(not core_node.replace_capabilities('nobody', gen_random_uuid(), '{x}'), 'nor for an unknown node');
select is(pg_temp.can(), array['event_type a', 'event_type c.*', 'workflow pay', 'workflow ship,it'], 'then all is as it was');
-- none
select ok(pg_temp.replace('{}'), 'a node may handle nothing');
select is(pg_temp.can(), null, 'and can do nothing then');
select is(core_private.live_patterns('shop', 'default', core.now()), null, 'so no node of the consumer lives');
select core_private.park_unhandled();
select is(pg_temp.parked(), '-', 'and nothing more is parked');
-- a node that began with nothing
delete from core_private.parking;
select core_node.register_node('shop', 'late', true, '{}');
select core_node.replace_capabilities('late', incarnation, '{b}') from core.nodes where node_id = 'late';
select is((select array_agg(queue_name) from core_private.parking), array['core_events_shop'], 'its queue is searched for the others once it handles something');
-- ended
select core_node.heartbeat('n', (select incarnation from n), 'stopped');
select ok(not pg_temp.replace('{a}'), 'one that has said goodbye');
update core.nodes set state = 'lost' where node_id = 'n';
select ok(not pg_temp.replace('{a}'), 'or is lost must register anew');
select is(pg_temp.can(), null, 'and has nothing until then');
