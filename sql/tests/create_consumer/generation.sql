-- C2: every writer of the log says which generation of consumers it met
-- holds: C2
select core.create_namespace('shop');
select core.emit('shop', 'a.b');
select core.create_consumer('shop', 'mail', '{never}');
select core.emit('shop', 'a.emit');
select core.emit_batch('shop', '{a.batch}', array['1']::jsonb[]);
select core.append_event_log('shop', 'a.append', '1', null);
select core.schedule_event('shop', 'a.shot', '1', core.now() - interval '1 s');
select core.fire_due_events();
select core.run_task_now(core.schedule_task('shop', 'nightly', '0 3 * * *', 'a.task', '1'));
select is((select array_agg(event_type || ' ' || consumer_generation order by event_id) from core.event_log where consumer_generation is not null), '{a.emit 1,a.batch 1,a.append 1,a.shot 1,a.task 1}', 'all do');
select core.drop_consumer('shop', 'mail');
select core.emit('shop', 'a.gone');
select is((select consumer_generation from core.event_log where event_type = 'a.gone'), 1::bigint, 'also when there is none left');
