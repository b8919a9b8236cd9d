-- T7: a trigger takes what is in the log from before it, or from while it was disabled, each event once
-- holds: T7
select core.create_namespace('shop'), core.create_namespace('other'), core.create_trigger('other', 'never', '{"event": {"pattern": "never"}}', 'go:mail');
create function pg_temp.t(p_name text, p_options jsonb = '{}', p_contains jsonb = '{}', p_pattern text = 'a.*') returns uuid language sql as $$
  select core.create_trigger('shop', p_name, jsonb_build_object('event', jsonb_build_object('pattern', p_pattern, 'contains', p_contains)), 'go:mail', p_options) $$;
create function pg_temp.got(p_name text) returns text language plpgsql as $$
declare v text; begin
  perform core.run_sweep('backfills');
  execute format('with gone as (delete from pgmq.q_core_events_shop__triggers where message ->> ''trigger'' = %L returning msg_id, message) select string_agg(message ->> ''payload'', '' '' order by msg_id) from gone', p_name) into v;
  return v; end $$;
create function pg_temp.e(p_n int, p_type text = 'a.made', p_options jsonb = '{}') returns bigint language sql as $$ select event_id from core.emit('shop', p_type, to_jsonb(p_n), p_options) $$;
create function pg_temp.state(p_name text) returns text language sql as $$ select concat_ws(' ', match_back, match_back_delivered) from core.trigger_status where namespace = 'shop' and name = p_name $$;
select pg_temp.e(1), pg_temp.e(2, 'b.made'), count(*) from core.emit('other', 'a.made', '"other"');
select pg_temp.e(3, p_options => '{"headers": {"a": "b"}, "tags": ["x"], "correlation_id": "c", "depth": 8}'), pg_temp.e(4, p_options => '{"depth": 9}');
select pg_temp.e(5, p_options => '{"delay": "1 hour"}');
select core.emit_batch('shop', '{a.made,b.made}', '{6,7}');

-- created
select isnt(pg_temp.t('plain'), null, 'one that does not look back');
select isnt(pg_temp.t('back', '{"match_back": "beginning"}'), null, 'one that does');
select is(pg_temp.state('plain'), '', 'none is under way'), is(pg_temp.state('back'), 'waiting 0', 'one is to come');
select pg_temp.e(8);
select core.emit_batch('shop', '{a.made,a.made,b.made}', '{9,10,11}');
select core.schedule_event('shop', 'a.made', '12', core.now() - interval '1 s');
select core.fire_due_events();
select core.emit('shop', 'a.made', '13', '{"dedupe_key": "k"}');
select is(pg_temp.got('plain'), '8 9 10 12 13', 'what is emitted from then on');
create temp table m as select message, headers from pgmq.q_core_events_shop__triggers where false;
select core.run_sweep('backfills');
insert into m select message, headers from pgmq.q_core_events_shop__triggers where message ->> 'payload' = '3';
select is((select message - '{eventId,eventUid,timestamp,emittedAt,triggerId,createdAt,authoredAt}'::text[] || headers - 'nexus-retry' from m),
  '{"depth": 8, "tags": ["x"], "trigger": "back", "payload": 3, "eventType": "go:mail", "namespace": "shop", "sourceType": "a.made", "correlationId": "c", "producerNodeId": null, "a": "b"}', 'as an emit would have delivered it');
select is((select headers -> 'nexus-retry' ->> 'max_attempts' from m), '3', 'under its policy');
select is(pg_temp.got('back'), '8 9 10 12 13 1 3 6', 'what is in the log, too, in order, once');
select is((select array_agg(message ->> 'payload') from core.delayed where message ->> 'trigger' = 'back'), '{5}', 'what is due later waits');
select is(pg_temp.state('back'), 'done 4', 'it is done');
select is((select match_back_done_to = match_back_bound from core.trigger_status where name = 'back'), true, 'up to its bound');
select is(pg_temp.t('back', '{"match_back": "beginning"}') is not null, true, 'created again');
select is(pg_temp.got('back'), null, 'nothing comes twice');
select is(core.match_back('shop', 'back', 'beginning'), false, 'nor when it is asked for');
select is(core.match_back('shop', 'back', core.now()::date || 'T00:00:00Z'), false, 'in part');
select is(core.match_back('shop', 'plain', 'beginning'), true, 'one that was created without can');
select is(pg_temp.got('plain'), '1 3 6', 'and gets what it had not');
select is(core.match_back('shop', 'plain', 'beginning'), false, 'once');

-- filters, times, rates
select pg_temp.t('filter', '{"match_back": "beginning"}', '{"x": 1}', 'f.*');
select core.emit('shop', 'f.a', '{"x": 1}'), core.emit('shop', 'f.a', '{"x": 2}');
select is(pg_temp.got('filter'), '{"x": 1}', 'a filter holds');
select core.emit('shop', 'f.a', '{"x": 1}'), core.emit('shop', 'f.a', '{"x": 2}');
select pg_temp.t('filter2', '{"match_back": "beginning"}', '{"x": 2}', 'f.*');
select is(pg_temp.got('filter2'), '{"x": 2} {"x": 2}', 'looking back as well');
update core.event_log set emitted_at = core.now() - interval '2 days' where namespace = 'shop' and payload in ('1', '3');
select pg_temp.t('since', jsonb_build_object('match_back', core.now()::date - 1 || 'T00:00:00Z'));
select is(pg_temp.got('since'), '6 8 9 10 12 13', 'what was emitted since');
select is(core.match_back('shop', 'since', 'beginning'), true, 'further back');
select is(pg_temp.got('since'), '1 3', 'the window that is done is cut off');
select pg_temp.t('slow', '{"match_back": {"from": "beginning", "rate": "2/min"}}');
select is(pg_temp.got('slow'), '1', 'a rate spreads');
select is((select array_agg(round(extract(epoch from due_at - core.now()))) from core.delayed where message ->> 'trigger' = 'slow' and message ->> 'payload' <> '5'), '{30}', 'what is due in a minute');
select core.run_sweep('backfills');
select is((select count(*)::int from core.delayed where message ->> 'trigger' = 'slow'), 2, 'no more of it by another look');
select is(pg_temp.state('slow'), 'running 3', 'it goes on');
update core_private.backfills set paced_to = core.now() - interval '1 hour' where state <> 'done';
select core.run_sweep('backfills');
select is((select count(*)::int from core.delayed where message ->> 'trigger' = 'slow'), 4, 'and at its pace after a rest');
select is(core.delete_trigger('shop', 'slow'), 5::bigint, 'deleted with what it was to bring');
select is((select count(*)::int from core_private.backfills where state <> 'done'), 0, 'and its look back');

-- disabled
select is(core.disable_trigger('shop', 'plain'), true, 'disabled');
select pg_temp.e(20);
select core.emit_batch('shop', '{a.made,a.made}', '{21,22}');
select is(core.match_back('shop', 'back', 'beginning'), false, 'another one is live');
select throws_ok($$select core.match_back('shop', 'plain', 'beginning')$$, 'NX014', null, 'a disabled one cannot look back');
select is(core.enable_trigger('shop', 'plain'), true, 'enabled without');
select pg_temp.e(23);
select is(pg_temp.got('plain'), '23', 'it has not what was emitted meanwhile');
select core.disable_trigger('shop', 'plain'), pg_temp.e(24);
select is(core.enable_trigger('shop', 'plain', '{"match_back": true}'), true, 'enabled with match_back');
select pg_temp.e(25);
select is(pg_temp.got('plain'), '25 24', 'it gets what was emitted while it was disabled, and not what it had');
select is(core.match_back('shop', 'plain', 'beginning'), true, 'looking back takes the rest');
select is(pg_temp.got('plain'), '20 21 22', 'once');
select is(core.match_back('shop', 'plain', 'beginning'), false, 'and knows it');
select core.enable_trigger('shop', 'plain', '{"match_back": true}');
select is(pg_temp.got('plain'), null, 'one that is live has nothing to get');
select pg_temp.t('waits', '{"match_back": "beginning"}'), core.disable_trigger('shop', 'waits');
select is(pg_temp.got('waits'), null, 'while it is disabled it does not look back');
select core.enable_trigger('shop', 'waits', '{"match_back": true}');
select is(pg_temp.got('waits'), '1 3 6 8 9 10 12 13 20 21 22 23 24 25', 'and goes on when it is live');
select pg_temp.t('waits2', '{"match_back": "beginning"}'), core.disable_trigger('shop', 'waits2');
select pg_temp.e(25, 'a.lost'), core.enable_trigger('shop', 'waits2');
select is(pg_temp.got('waits2'), '1 3 6 8 9 10 12 13 20 21 22 23 24 25', 'but not with what came meanwhile, where nobody asked for it');
select pg_temp.t('off', '{"enabled": false}'), pg_temp.e(26), core.enable_trigger('shop', 'off', '{"match_back": true}'), pg_temp.e(27);
select is(pg_temp.got('off'), '27 26', 'one that was created disabled');

-- replaced
select core.disable_trigger('shop', 'off'), pg_temp.e(28), pg_temp.t('off', '{"replace": true}', p_pattern => '*'), pg_temp.e(29, 'b.made');
select core.enable_trigger('shop', 'off', '{"match_back": true}');
select is(pg_temp.got('off'), '28 29', 'replaced meanwhile, it gets by its rule of now what nothing was delivered of');
select throws_ok($$select core.match_back('shop', 'off', 'beginning')$$, 'NX014', null, 'one that was replaced cannot look back beyond');
select throws_ok($$select pg_temp.t('off', '{"replace": true, "match_back": "beginning"}', p_pattern => 'b.*')$$, 'NX014', null, 'nor as it is');
select isnt(pg_temp.t('new', '{"replace": true, "match_back": "beginning"}', p_pattern => 'b.*'), null, 'where none is there yet, nothing is replaced');
select is(pg_temp.got('new'), '2 7 11 29', 'so it can');

-- what it is not for
select throws_ok(format('select core.match_back(''shop'', ''back'', %L, %L)', f, o), e, null, concat_ws(' ', f, o, 'is refused'))
  from (values ('now', '{}', 'NX005'), ('2999-01-01T00:00:00Z', '{}', 'NX005'), (null, '{}', 'NX005'), ('yesterday', '{}', 'NX005'), ('beginning', '{"rate": 7}', 'NX005'), ('beginning', '{"from": "beginning"}', 'NX004')) v(f, o, e);
select throws_ok($$select pg_temp.t('bad', '{"match_back": {"until": "now"}}')$$, 'NX004', null, 'an option that is not there');
select throws_ok($$select pg_temp.t('bad', '{"match_back": true}')$$, 'NX005', null, 'true is no time');
select throws_ok($$select pg_temp.t('bad', '{"match_back": "beginning", "enabled": false}')$$, 'NX014', null, 'one that is created disabled');
select lives_ok($$select pg_temp.t('now', '{"match_back": "now"}')$$, 'from now on looks back at nothing'), is(pg_temp.state('now'), '', 'at all');
select throws_ok($$select core.enable_trigger('shop', 'back', '{"match_back": 1}')$$, 'NX005', null, 'enabling takes true or false');
select throws_ok($$select core.match_back('shop', 'none', 'beginning')$$, 'NX114', null, 'one that is not there');
select is((select count(*)::int from core.audit_log where action = 'match_back'), 3, 'it is recorded');
