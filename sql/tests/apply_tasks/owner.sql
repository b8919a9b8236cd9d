-- S12: declared schedules
-- holds: S12
select core.create_namespace('shop');
select core.create_namespace('mall');
select core.schedule_task('shop', 'by-hand', '0 1 * * *', 'x');
select core.schedule_task('shop', 'of-another', '0 1 * * *', 'x', '{}', '{"owner": "reports"}');
create temp table declared as select '[
    {"namespace": "shop", "name": "close-day", "cron_expression": "30 2 * * *", "timezone": "europe/berlin", "event_type": "day.closed"},
    {"namespace": "mall", "name": "ping", "cron_expression": "@every 90s", "event_type": "ping", "payload": {"a": 1}}]'::jsonb as d;

select results_eq($$ select task, action, field, old_value, new_value from core.apply_tasks('billing', (select d from declared), true) $$,
    $$ values ('mall/ping', 'create', null::text, null::text, '@every 90s'), ('shop/close-day', 'create', null, null, '30 2 * * *') $$, 'a dry run says what would be');
select is((select count(*)::int from core.scheduled_tasks where owner = 'billing'), 0, 'and does nothing');
select is((select count(*)::int from core.apply_tasks('billing', (select d from declared))), 2, 'then it is done');
select is((select count(*)::int from core.apply_tasks('billing', (select d from declared))), 0, 'once');
select is((select timezone from core.scheduled_tasks where name = 'close-day'), 'Europe/Berlin', 'canonical');

select core.pause_task('shop', 'close-day');
select results_eq($$ select task, action, field, old_value, new_value from core.apply_tasks('billing', '[{"namespace": "shop", "name": "close-day", "cron_expression": "45 2 * * *", "event_type": "day.closed", "jitter": "10 s"}]') $$,
    $$ values ('mall/ping', 'delete', null::text, '@every 90s', null::text), ('shop/close-day', 'change', 'cron_expression', '30 2 * * *', '45 2 * * *'),
              ('shop/close-day', 'change', 'timezone', 'Europe/Berlin', 'UTC'), ('shop/close-day', 'change', 'jitter', '00:00:00', '00:00:10') $$, 'changes by field, and what is no longer declared goes');
select is((select active from core.scheduled_tasks where name = 'close-day'), false, 'who paused it meant it');
select is((select count(*)::int from core.apply_tasks('billing', '[]')), 1, 'none at all');
select is((select array_agg(name order by name) from core.scheduled_tasks), array['by-hand', 'of-another'], 'others'' tasks are not touched');

create function pg_temp.refusal(o text, d jsonb) returns text language plpgsql as $$
declare m text; c text;
begin
    perform core.apply_tasks(o, d);
    return 'accepted';
exception when others then
    get stacked diagnostics m = message_text, c = column_name;
    return sqlstate || ' ' || c || ': ' || m;
end $$;
select is(pg_temp.refusal('', '[]'), 'NX006 p_owner: p_owner cannot be ''''', 'an owner');
select is(pg_temp.refusal('billing', '{}'), 'NX006 p_tasks: p_tasks is not an array of up to 10000 tasks', 'an array');
select is(pg_temp.refusal('billing', '[7]'), 'NX005 p_tasks[1]: task 1: p_tasks[1] is not an object: 7', 'of objects');
select is(pg_temp.refusal('billing', '[{"namespace": "shop", "name": "a", "cron_expression": "* * * * *", "event_type": "x"}, {"namespace": "shop", "name": "b", "cron": "* * * * *"}]'),
    'NX004 p_tasks[2].cron: task ''b'': there is no option ''cron''', 'a typo');
select is(pg_temp.refusal('billing', '[{"namespace": "shop", "name": "b", "cron_expression": "61 * * * *", "event_type": "x"}]'),
    'NX011 p_tasks[1].cron_expression: task ''b'': cron expression "61 * * * *": minute, position 1: 61 is not between 0 and 59', 'an expression');
select is(pg_temp.refusal('billing', '[{"namespace": "shop", "name": "b", "cron_expression": "1 * * * *"}]'), 'NX005 p_tasks[1].event_type: task ''b'': event_type cannot be NULL', 'no event type');
select is(pg_temp.refusal('billing', '[{"namespace": "shop", "name": "b", "cron_expression": "1 * * * *", "event_type": "x", "jitter": "1 year"}]'), 'NX005 p_tasks[1].jitter: task ''b'': jitter is out of range: 1 year', 'a setting');
select is(pg_temp.refusal('billing', '[{"namespace": "shop", "name": "of-another", "cron_expression": "1 * * * *", "event_type": "x"}]'),
    'NX208 p_tasks[1].owner: task ''of-another'' of namespace ''shop'' belongs to owner ''reports''', 'another owner''s task');
select is(pg_temp.refusal('billing', '[{"namespace": "shop", "name": "b", "cron_expression": "1 * * * *", "event_type": "x"}, {"namespace": "shop", "name": "b", "cron_expression": "2 * * * *", "event_type": "x"}]'),
    'NX006 p_tasks[1].name: task ''b'' of namespace ''shop'' is declared twice', 'twice');
select is((select count(*)::int from core.scheduled_tasks), 2, 'what is refused leaves nothing behind');

-- By name
select core.schedule_task('shop', 'named', '0 1 * * *', 'x');
select is(core.pause_task('shop', 'named'), true, 'paused');
select is(core.pause_task('shop', 'named'), false, 'already');
select throws_ok($$ select core.run_task_now('shop', 'named') $$, 'NX013', null, 'a paused task does not run');
select is(core.resume_task('shop', 'named'), true, 'resumed');
select isnt((select event_uid from core.run_task_now('shop', 'named')), null, 'ran now');
select core.delete_task('shop', 'named');
select throws_ok(format('select core.%s(''shop'', ''named'')', f), 'NX108', 'namespace ''shop'' has no task ''named''', f || ' of no task') from unnest(array['pause_task', 'resume_task', 'delete_task', 'run_task_now']) f;
select throws_ok($$ select core.pause_task('nowhere', 'named') $$, 'NX101', null, 'no namespace');

-- A stranger's task under this owner's name, in a namespace that is closed to the caller, is neither deleted nor in the way
select core.create_namespace('closed', '{"restricted": true}');
select core.schedule_task('closed', 'poison', '0 1 * * *', 'x', '{}', '{"owner": "team"}');
create role t_deployer in role nexus_producer;
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
grant all on all tables in schema pg_temp to public; grant all on all sequences in schema pg_temp to public;
set local role t_deployer;
select lives_ok($$ select core.apply_tasks('team', '[{"namespace": "shop", "name": "mine", "cron_expression": "0 2 * * *", "event_type": "x"}]') $$, 'the deployment goes through');
select is((select string_agg(task || ' ' || action, ', ') from core.apply_tasks('team', '[]')), 'shop/mine delete', 'and ends with its own tasks');
reset role;
select is((select count(*)::int from core.scheduled_tasks where name = 'poison'), 1, 'the other stays');
