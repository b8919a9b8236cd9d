-- DL5: who sees what was done to the database as a whole, to what others may not read, and to what is gone
-- holds: DL5 (what belongs to no namespace)
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_admin login in role nexus_admin; create role t_reader login in role nexus_reader; create role t_member login in role nexus_reader;
select core.create_namespace('shop'), core.create_namespace('closed', '{"restricted": true}'), core.create_namespace('gone', '{"restricted": true}');
set session authorization t_admin; set search_path = tap, pg_catalog;
select core.alter_settings('{"max_trigger_depth": 9}'), core.alter_settings('{"max_trigger_depth": 9}'), core.alter_scheduler('{"keep_slots": "10 days"}');
select core.grant_namespace(n, 't_member', 'read'), core.grant_namespace(n, 't_member', 'read') from unnest('{closed,gone}'::text[]) n;
select core.alter_namespace('closed', '{"dedupe_for": "2 days"}'), core.alter_namespace('closed', '{"dedupe_for": "2 days"}');
select core.schedule_task('shop', 't', '0 3 * * *', 'a'), core.schedule_task('shop', 't', '0 3 * * *', 'a'), core.schedule_task('shop', 't', '0 4 * * *', 'a'), core.pause_task('shop', 't'), core.pause_task('shop', 't'), core.delete_task('shop', 't');
select core.revoke_namespace('closed', 't_reader', 'read'), core.drop_namespace('gone', 'gone');
create function pg_temp.seen() returns text[] language sql as $$ select array_agg(concat_ws(' ', namespace, action, target) order by audit_id) from core.audit_log $$;
select is(pg_temp.seen(), '{alter_settings,alter_scheduler,"closed grant_namespace t_member","gone grant_namespace t_member","closed alter_namespace","shop schedule_task t","shop schedule_task t","shop pause_task t","shop delete_task t","gone drop_namespace"}', 'an administrator sees all, also of what is gone; what changed nothing is not there');
select is((select details::text from core.audit_log where action = 'alter_settings'), '{"after": {"max_trigger_depth": 9}, "before": {"max_trigger_depth": 8}}', 'what it was, and is');
select is((select details::text from core.audit_log where action = 'alter_namespace'), '{"after": {"dedupe_for": "2 days"}, "before": {"dedupe_for": "7 days"}}', 'of a namespace');
select is((select array_agg(details::text order by audit_id) from core.audit_log where action = 'schedule_task' and details ? 'before' and details -> 'before' <> 'null'), array['{"after": {"cron_expression": "0 4 * * *"}, "before": {"cron_expression": "0 3 * * *"}}'], 'of a task');
set session authorization t_reader; set search_path = tap, pg_catalog;
select is((select array_agg(concat_ws(' ', namespace, action) order by audit_id) from core.audit_log), '{alter_settings,alter_scheduler,"shop schedule_task","shop schedule_task","shop pause_task","shop delete_task"}', 'a reader sees what concerns all, and nothing of what is closed to him or gone');
set session authorization t_member; set search_path = tap, pg_catalog;
select is((select array_agg(concat_ws(' ', namespace, action) order by audit_id) from core.audit_log where namespace is distinct from 'shop'), '{alter_settings,alter_scheduler,"closed grant_namespace","closed alter_namespace"}', 'who has a grant sees it');
reset session authorization; reset search_path;
create role t_node login in role nexus_consumer;
update nexus_test.clock set shift = '401 days';
set session authorization t_node;
select core.tick();
reset session authorization;
select is((select array_agg(distinct namespace order by namespace) from core.audit_log), '{closed}', 'a node''s retention takes those of no namespace, too');
