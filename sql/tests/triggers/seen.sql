-- TO1: what the status says of a trigger; dead letters are picked by trigger and target
-- holds: TO1, DL2 (filters by trigger and target)
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_operator login in role nexus_operator;
select core.create_namespace('shop');
select core.create_trigger('shop', t, '{"event": {"pattern": "a"}}', 'go:' || t, '{"retry": {"max_attempts": 2}}') from unnest('{mail,audit}'::text[]) t;
select core.emit('shop', 'a', '1'), core.emit('shop', 'a', '1', '{"depth": 9}'), core.emit_batch('shop', '{a}', array['1']::jsonb[], array['{"depth": 9}']::jsonb[]);
create function pg_temp.failed(p_types text[], p_action text) returns bigint language sql as $$
  select count(*) from core_node.claim('core_events_shop__triggers', p_types, '{0}', 10, '30 s') c cross join lateral core_node.settle('core_events_shop__triggers', 'n', '{}', '{}', '{}', jsonb_build_array(jsonb_build_object('id', c.msg_id, 'ct', c.read_ct, 'at', c.last_read_at, 'action', p_action, 'after', '0', 'reason', 'error', 'error', 'no'))) s where c.outcome = 'claimed' $$;
select pg_temp.failed('{go:mail}', 'retry'), pg_temp.failed('{go:mail}', 'retry'), pg_temp.failed('{go:audit}', 'retry'), core.create_trigger('shop', 'idle', '{"event": {"pattern": "never"}}', 'go:mail');
select is((select array_agg(concat_ws(' ', name, failures, dead, drops) order by name) from core.trigger_status), '{"audit 1 0 2","idle 0 0 0","mail 2 1 2"}', 'failures, dead letters and drops of each');
select core_node.register_node('shop', 'n', true, '{go:mail}', '{}', '{triggers}');
select is((select array_agg(name order by name) from core.trigger_status where handled), '{idle,mail}', 'whether somebody handles the target');
insert into core.dead_letters (namespace, source_kind, source_ref, payload, attempts, failed_at, reason) values ('shop', 'task', '1', '1', 1, core.now(), 'r');
select pg_temp.failed('{go:audit}', 'reject');
set session authorization t_operator; set search_path = tap, pg_catalog;
select is((select core.count_dead_letters(f)), n, f::text) from (values ('{"trigger": "mail"}'::jsonb, 1::bigint), ('{"target": "go:audit"}', 1), ('{"trigger": "mail", "target": "go:audit"}', 0), ('{"trigger": "idle"}', 0), ('{"namespace": "shop"}', 3)) v(f, n);
select is(core.count_dead_letters(jsonb_build_object('trigger', trigger_id)), 1::bigint, 'by its id') from core.trigger_status where name = 'mail';
select is((select array_agg(concat_ws(' ', trigger, target) order by dead_letter_id) from core.unresolved_dead_letters), '{"mail go:mail","","audit go:audit"}', 'and shown');
select is((select (matched, done)::text from core.replay_dead_letters('{"trigger": "mail"}')), '(1,1)', 'replayed'), is((select (matched, done)::text from core.discard_dead_letters('{"target": "go:audit"}', 'x')), '(1,1)', 'discarded');
select is((select dead from core.trigger_status where name = 'mail'), 0, 'and no more counted');
select throws_ok($$select core.count_dead_letters('{"trigger": ""}')$$, 'NX009', null, 'nothing is no trigger'), throws_ok($$select core.count_dead_letters('{"target": 7}')$$, 'NX009', null, 'nor a number a target');
