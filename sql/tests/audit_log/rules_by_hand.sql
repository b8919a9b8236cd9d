-- DL5: what is written to triggers, handlers and watched tables outside of the functions is recorded as that
-- holds: DL5 (triggers, handlers and watched tables)
select core.create_namespace('shop'), core.create_namespace('mall');
create function pg_temp.by_hand() returns text[] language sql as $$ select coalesce(array_agg(concat_ws(' ', namespace, details ->> 'table', details ->> 'operation', details ->> 'rows', case when target = 'go:hand' then target end) order by audit_id), '{}') from core.audit_log where action = 'by hand' $$;
select core.create_trigger(n, 'mail', '{"event": {"pattern": "a"}}', 'go:mail') from unnest('{shop,mall}'::text[]) n;
select core.create_trigger('shop', 'mail', '{"event": {"pattern": "b"}}', 'go:other', '{"replace": true}');
select core.disable_trigger('shop', 'mail', true), core.enable_trigger('shop', 'mail');
create role t_new in role nexus_consumer;
select core.hand_over_triggers(session_user, 't_new'), core.create_handler('shop', 'go:spare'), core.drop_handler('shop', 'go:spare');
select core.create_trigger('shop', 'gone', '{"event": {"pattern": "a"}}', 'go:mail');
select core.delete_trigger('shop', 'gone'), core.drop_namespace('mall', 'mall', true);
create schema app; create table app.orders (id int primary key);
select core.watch_table('shop', 'app.orders', 'orders'); select core.switch_watch(watch_id, false, 'a try') from core.watched_tables; select core.switch_watch(watch_id, true) from core.watched_tables;
select is(pg_temp.by_hand(), '{}', 'functions are no hands');
update core.triggers set enabled = false;
select is((select details -> 'after' -> trigger_id::text from core.audit_log, core.triggers where action = 'by hand'), '{"enabled": false}', 'what changed');
set local role nexus_owner;
insert into core.handlers (namespace, key, kind, registered_by, created_by, created_at) values ('shop', 'go:hand', 'go', 'nexus_owner', 'x', now());
reset role;
delete from core.handlers where key = 'go:hand';
set local session_replication_role = replica;
update core.triggers set name = 'renamed';
reset session_replication_role;
delete from core.triggers;
update core.watched_tables set enabled = false, off_reason = 'by hand';
select is(pg_temp.by_hand(), '{"shop core.triggers update 1","shop core.handlers insert 1 go:hand","shop core.handlers delete 1 go:hand","shop core.triggers update 1","shop core.triggers delete 1","shop core.watched_tables update 1"}', 'each is recorded, the owner''s too, and in sessions that play a replica');
