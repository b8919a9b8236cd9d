-- holds: LN2 (strict queues), I5-strangers (lanes of strict queues)
-- Who enqueues to a strict queue locks rows of its lanes: of a key its own, without a key all. Nobody else can lock these.
create function pg_temp.locked(p_queue text) returns text language sql as $$
  select coalesce(string_agg(format('%s.%s', l.generation, l.lane), ' ' order by l.generation, l.lane) filter (where s.xmax <> '0'), '-') || ' of ' || count(*)
    from core.consumers c join core_private.consumer_lanes l using (consumer_id) join core_private.strict_lanes s using (lane_id)
   where c.name = p_queue $$;
create function pg_temp.lanes(p_generation integer, p_keys text[], p_lanes integer) returns text language sql as $$
  select string_agg(distinct format('%s.%s', p_generation, l), ' ') from unnest(core_private.lanes_of_keys(p_keys, p_lanes)) l $$;
select core.create_namespace('shop');
select core.outbox_register_queue('shop', q, 4, '{"strict": true}') from unnest('{one,two,any,all,gone}'::text[]) q;
select core.outbox_register_queue('shop', 'plain', 4);
select core.outbox_enqueue('shop', 'plain', 'x', 't');
create temp table before as select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid();
select is(pg_temp.locked('one'), '- of 4', 'each lane has a row');
select is(pg_temp.locked('plain'), '- of 0', 'not of a queue that is not strict');
select core.outbox_enqueue('shop', 'one', 'x', 't', 'k');
select is(pg_temp.locked('one'), pg_temp.lanes(1, '{k}', 4) || ' of 4', 'that of the key');
select core.outbox_enqueue_batch('shop', 'two', '{x,x,x}', '{t,t,t}', '{k,k,a}');
select is(pg_temp.locked('two'), pg_temp.lanes(1, '{k,a}', 4) || ' of 4', 'those of the keys');
select core.outbox_enqueue('shop', 'any', 'x', 't');
select core.outbox_enqueue_batch('shop', 'all', '{x,x}', '{t,t}', '{k,null}');
select is(pg_temp.locked(q), '1.0 1.1 1.2 1.3 of 4', 'without a key all: ' || q) from unnest('{any,all}'::text[]) q;
select is((select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()), (select count(*) from before), 'and nothing that any login can have');
select core.outbox_repartition('shop', 'one', 2);
select core.outbox_enqueue('shop', 'one', 'x', 't', 'a');
select is(pg_temp.locked('one'), pg_temp.lanes(1, '{k}', 4) || ' ' || pg_temp.lanes(2, '{a}', 2) || ' of 6', 'new lanes are locked, too');
delete from core_private.strict_lanes s using core_private.consumer_lanes l, core.consumers c where l.lane_id = s.lane_id and c.consumer_id = l.consumer_id and c.name = 'gone';
select throws_ok($$select core.outbox_enqueue('shop', 'gone', 'x', 't', 'k')$$, 'NX115', null, 'what was dropped while its lane was waited for is not there');
select core.outbox_drop_queue('shop', q, true) from unnest('{one,two,any,all,gone}'::text[]) q;
select is((select count(*)::int from core_private.strict_lanes), 0, 'they go with their queue');
create role t_producer in role nexus_producer, nexus_consumer, nexus_operator, nexus_reader;
select is(has_table_privilege('t_producer', 'core_private.strict_lanes', p), false, 'no login locks them by ' || p) from unnest('{select,insert,update,delete,truncate}'::text[]) p;
