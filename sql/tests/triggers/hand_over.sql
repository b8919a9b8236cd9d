-- T4: who leaves hands the triggers over
-- holds: T4 (hand over)
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_team in role nexus_consumer; create role t_new in role nexus_consumer; create role t_weak;
create role t_old login in role nexus_consumer; create role t_operator login in role nexus_operator, t_new; create role t_other login in role nexus_operator; create role t_admin login in role nexus_admin;
select core.create_namespace('shop'), core.create_namespace('mall'), core.create_namespace('closed', '{"restricted": true}');
select core.grant_namespace('closed', 't_old', 'consume');
set session authorization t_old; set search_path = tap, pg_catalog;
select core.create_trigger(n, 'mine', '{"event": {"pattern": "a"}}', 'go:mail') from unnest('{shop,mall,closed}'::text[]) n;
set session authorization t_operator; set search_path = tap, pg_catalog;
select core.create_trigger('shop', 'theirs', '{"event": {"pattern": "a"}}', 'go:mail');
set session authorization t_other; set search_path = tap, pg_catalog;
select throws_ok($$select core.hand_over_triggers('t_old', 't_new')$$, '42501', null, 'to a role that one is in');
set session authorization t_old; set search_path = tap, pg_catalog;
select throws_ok($$select core.hand_over_triggers('t_old', 't_team', 'shop')$$, '42501', null, 'by operators');
set session authorization t_operator; set search_path = tap, pg_catalog;
select throws_ok($$select core.hand_over_triggers('t_none', 't_new')$$, 'NX006', 'there is no role ''t_none''', 'of a role'), throws_ok($$select core.hand_over_triggers('t_old', null)$$, 'NX006', 'there is no role NULL', 'to a role'), throws_ok($$select core.hand_over_triggers(null, 't_new')$$, 'NX006', 'there is no role NULL', 'of one'), throws_ok($$select core.hand_over_triggers('t_old', 't_new', 'none')$$, 'NX101', null, 'in a namespace'), throws_ok($$select core.hand_over_triggers('t_old', 't_new', 'closed')$$, 'NX402', null, 'that one operates');
select is(core.hand_over_triggers('t_old', 't_new', 'mall'), 2, 'of one namespace: the trigger and its handler');
select is(core.hand_over_triggers('t_old', 't_new', 'mall'), 0, 'once');
select is(core.hand_over_triggers('t_old', 't_new'), 2, 'or of all that one operates');
set session authorization t_admin; set search_path = tap, pg_catalog;
select is(core.hand_over_triggers('t_new', 't_old', 'shop'), 2, 'and back');
reset session authorization;
select is((select array_agg(concat_ws(' ', t.namespace, t.name, t.registered_by_principal) order by t.namespace, t.name) from core.triggers t where t.namespace <> 'closed'), '{"mall mine t_new","shop mine t_old","shop theirs t_operator"}', 'and nobody else''s');
select is((select (principal, target, details - 'first_triggers')::text from core.audit_log where action = 'hand_over_triggers' order by audit_id limit 1), '(t_operator,t_new,"{""to"": ""t_new"", ""from"": ""t_old"", ""watches"": 0, ""handlers"": 1, ""triggers"": 1}")', 'recorded');
set session authorization t_admin; set search_path = tap, pg_catalog;
select throws_ok($$select core.hand_over_triggers('t_old', 't_weak')$$, 'NX006', null, 'to one that may have the deliveries');
select throws_ok($$select core.hand_over_triggers('t_old', 't_new')$$, 'NX006', null, 'in each namespace');
reset session authorization;

-- a role that is gone
select core.emit('shop', 'a', '1');
select set_config('t.gone', t.registered_by_principal::oid::text, false) from core.triggers t where t.namespace = 'shop' and t.name = 'mine';
select lives_ok($$select core.revoke_namespace('closed', 't_old', 'consume'); drop role t_old$$, 'a role goes, with triggers');
select is((select array_agg(concat_ws(' ', namespace, name, principal_ok, registered_by) order by namespace) from core.trigger_status where not principal_ok), array['closed mine f t_old', 'shop mine f t_admin'], 'and takes nothing along');
create role t_old login in role nexus_consumer;
select is((select count(*)::int from core.trigger_status where not principal_ok), 2, 'one of its name is another');
select is((select array_agg(outcome order by outcome) from core_node.claim('core_events_shop__triggers', '{go:mail}', '{0}', 10, '30 s') where outcome <> 'window'), '{buried,claimed}', 'its deliveries are dead letters');
select alike((select last_error from core.dead_letters), '%core.hand_over_triggers%', 'which say how to mend it');
set session authorization t_operator; set search_path = tap, pg_catalog;
select is(core.hand_over_triggers(current_setting('t.gone'), 't_new', 'shop'), 2, 'by its number it is handed over');
select isnt(core.replay_dead_letter((select dead_letter_id from core.dead_letters)), null, 'and what died is replayed');
reset session authorization;
select is((select array_agg(outcome) from core_node.claim('core_events_shop__triggers', '{go:mail}', '{0}', 10, '30 s') where outcome <> 'window'), '{claimed}', 'and claimed');
