-- Tasks whose queue has lost its table hold up no others: neither those that ask whether an earlier event is done, nor the ledger's upkeep.
-- holds: NS1-lost-queues
select core.create_namespace('shop'), core.create_namespace('gone');
update nexus_test.clock set frozen = '2026-12-01 12:00:30Z';
select core.schedule_task(ns, p, '* * * * *', p, '{}', jsonb_build_object('overlap', p)) from unnest('{shop,gone}'::text[]) ns, unnest('{allow,queue_one}'::text[]) p;
create function pg_temp.at(p_time text) returns int language plpgsql as $$ begin
  update nexus_test.clock set frozen = ('2026-12-01 12:' || p_time || 'Z')::timestamptz; return core_private.fire_tasks(100); end $$;
select is(pg_temp.at('01:05'), 4, 'each fires');
select is(pg_temp.at('02:05'), 2, 'its event is not done: only those that may overlap');
drop table pgmq.q_core_events_gone;
delete from pgmq.q_core_events_shop where message ->> 'eventType' = 'queue_one';
select is(pg_temp.at('02:30'), 1, 'what waits for its event looks at the queues that are there');
select is(pg_temp.at('03:05'), 1, 'the others go on');
select ok((select bool_and(failures > 0 and last_error ~ '^NX110') from core.scheduled_tasks where namespace = 'gone'), 'those of the lost queue say why they do not');
select ok(exists (select from core_private.task_deliveries where queue_name = 'core_events_gone'), 'their links stay');
select lives_ok('select core_private.expire_slots()', 'so does the ledger''s upkeep');
select core.create_namespace('gone');
select is(core_private.fire_tasks(100), 2, 'made again: at once');
select is((select count(*)::int from core.scheduled_tasks where failures > 0), 0, 'no failure is left');
