-- K1, K7: keys make mutations, which fire triggers of kind kv and nothing else
-- holds: K1, K7
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_app login in role nexus_producer, nexus_consumer;
select core.create_namespace('shop');
create function pg_temp.got() returns text[] language plpgsql as $$
declare v text[]; begin
  with gone as (delete from pgmq.q_core_events_shop__triggers returning msg_id, message) select coalesce(array_agg(concat_ws(' ', message ->> 'trigger', message ->> 'sourceType', (message -> 'payload') - '{collection,op}'::text[]) order by message ->> 'trigger', msg_id), '{}') into v from gone; return v; end $$;
create function pg_temp.t(p_name text, p_kv jsonb) returns text language plpgsql as $$
declare v_column text; begin
  perform core.create_trigger('shop', p_name, jsonb_build_object('kv', p_kv), 'go:mail'); return 'made';
exception when others then get stacked diagnostics v_column = column_name; return sqlstate || ' ' || v_column; end $$;
set session authorization t_app; set search_path = tap, pg_catalog;
select is(pg_temp.t('bad', s), e, s::text || ' is refused') from (values ('{}'::jsonb, 'NX014 collection'), ('{"collection": 7}', 'NX014 collection'), ('{"collection": "a*"}', 'NX008 collection'), ('{"collection": "a", "ops": "insert"}', 'NX014 ops'), ('{"collection": "a", "ops": ["upsert"]}', 'NX014 ops'), ('{"collection": "a", "columns": [1]}', 'NX014 columns'), ('{"collection": "a", "contains": 1}', 'NX014 contains'), ('{"collection": "a", "pattern": "a"}', 'NX004 pattern')) v(s, e);
select is(pg_temp.t('all', '{"collection": "settings.*"}'), 'made', 'a trigger'), is(pg_temp.t('all', '{"collection": "settings.*", "ops": [], "columns": []}'), 'made', 'alike'), is(pg_temp.t('all', '{"collection": "settings.*", "ops": ["insert"]}'), 'NX212 p_name', 'otherwise');
select is(pg_temp.t('gone', '{"collection": "settings.*", "ops": ["delete"]}'), 'made', 'of an op'), is(pg_temp.t('red', '{"collection": "settings.ui", "contains": {"new": {"color": "red"}}}'), 'made', 'of a content'), is(pg_temp.t('size', '{"collection": "settings.ui", "columns": ["size"], "ops": ["update", "update"]}'), 'made', 'of a column');
select throws_ok($$select core.create_trigger('shop', 'all', '{"event": {"pattern": "a"}}', 'go:mail')$$, 'NX212', null, 'a kind stays');
reset session authorization;
select is((select source from core.trigger_status where name = 'size'), '{"collection": "settings.ui", "ops": ["update"], "columns": ["size"]}', 'the status has it');
set session authorization t_app; set search_path = tap, pg_catalog;
select core.kv_set('shop', 'settings.ui', 'theme', '{"color": "blue", "size": 1}'), core.kv_set('shop', 'other', 'theme', '1');
reset session authorization;
select is(pg_temp.got(), array['all kv.settings.ui.insert {"key": "theme", "new": {"size": 1, "color": "blue"}, "old": null, "changed": null}'], 'a key that is new');
select is((select metadata || jsonb_build_object('type', event_type, 'who', principal) from core.event_log), '{"type": "kv.settings.ui.insert", "who": "t_app", "toTriggers": true}', 'is logged, if something fired');
select is((select count(*)::int from pgmq.q_core_events_shop), 0, 'and goes to no consumer');
select core.kv_set('shop', 'settings.ui', 'theme', '{"color": "blue", "size": 1}'), core.kv_set('shop', 'settings.ui', 'theme', '{"color": "blue", "size": 1}', '{"ttl": "1 hour"}');
select is(pg_temp.got(), '{}', 'an equal value fires nothing');
select core.kv_cas('shop', 'settings.ui', 'theme', '{"color": "red", "size": 1}', (select version from core.kv where key = 'theme' and collection ~ 'settings')), core.kv_cas('shop', 'settings.ui', 'theme', '{"color": "red"}', 7);
select is(pg_temp.got(), array['all kv.settings.ui.update {"key": "theme", "new": {"size": 1, "color": "red"}, "old": {"size": 1, "color": "blue"}, "changed": ["color"]}', 'red kv.settings.ui.update {"key": "theme", "new": {"size": 1, "color": "red"}, "old": {"size": 1, "color": "blue"}, "changed": ["color"]}'], 'a change, by cas, if it was done');
select core.kv_set('shop', 'settings.ui', 'theme', '{"size": 2}', '{"ttl": "1 minute"}');
select is((select array_agg(split_part(g, ' ', 1)) from unnest(pg_temp.got()) g), '{all,size}', 'of a column');
select core.kv_delete('shop', 'settings.ui', 'theme');
select is(pg_temp.got(), array['all kv.settings.ui.delete {"key": "theme", "new": null, "old": {"size": 2}, "changed": null}', 'gone kv.settings.ui.delete {"key": "theme", "new": null, "old": {"size": 2}, "changed": null}'], 'a key that is gone');
-- what expires
select core.kv_set('shop', 'settings.a', k, '1', '{"ttl": "1 minute"}') from unnest(array['one', 'two']) k;
select isnt(pg_temp.got(), '{}', 'two keys');
update core.kv_entries set expires_at = core.now() - interval '1 s';
select core.kv_set('shop', 'settings.a', 'one', '2');
select is(pg_temp.got(), array['all kv.settings.a.delete {"key": "one", "new": null, "old": 1, "changed": null, "expired": true}', 'all kv.settings.a.insert {"key": "one", "new": 2, "old": null, "changed": null}', 'gone kv.settings.a.delete {"key": "one", "new": null, "old": 1, "changed": null, "expired": true}'], 'one that expired is gone before it is made anew');
select is(core_private.expire_kv(), 2, 'the sweep');
select is(pg_temp.got(), array['all kv.settings.a.delete {"key": "two", "new": null, "old": 1, "changed": null, "expired": true}', 'gone kv.settings.a.delete {"key": "two", "new": null, "old": 1, "changed": null, "expired": true}'], 'says that it expired');
select is((select count(*)::int from core_private.kv_routes), 4, 'routes');
select core.disable_trigger('shop', n) from unnest(array['all', 'red', 'size']) n;
select is((select count(*)::int from core_private.kv_routes), 1, 'of those that are enabled');
-- depth
set local nexus.cause = '8 019a2b4c-0000-7000-8000-000000000001 corr';
select core.kv_delete('shop', 'settings.a', 'one');
select is(pg_temp.got()::text ~ 'gone', false, 'what lies too deep fires nothing');
select is((select (why, deliveries, event_type)::text from core.trigger_drops), '(depth,1,kv.settings.a.delete)', 'and is noted');
set local nexus.cause = '3 019a2b4c-0000-7000-8000-000000000001 corr';
select core.kv_set('shop', 'settings.a', 'one', '1'), core.kv_delete('shop', 'settings.a', 'one');
select is((select message - '{payload,namespace,eventId,eventUid,emittedAt,trigger,triggerId,producerNodeId}'::text[] from pgmq.q_core_events_shop__triggers), '{"depth": 4, "causationUid": "019a2b4c-0000-7000-8000-000000000001", "correlationId": "corr", "eventType": "go:mail", "sourceType": "kv.settings.a.delete"}', 'a mutation is one deeper than what made it');
select is((select (depth, causation_uid, correlation_id)::text from core.event_log order by event_id desc limit 1), '(4,019a2b4c-0000-7000-8000-000000000001,corr)', 'in the log, too');
set local nexus.cause = '';
delete from pgmq.q_core_events_shop__triggers;
-- test, replay
select is((select array_agg(name || ': ' || coalesce(why, '-') order by name) from core.test_triggers('shop', 'kv.settings.a.truncate', '{}')), '{"all: disabled","gone: no live node handles the target","red: disabled","size: disabled"}', 'truncate is one of delete');
select core.enable_trigger('shop', n) from unnest(array['red', 'size']) n;
select is((select array_agg(name || ': ' || coalesce(why, '-') order by name) from core.test_triggers('shop', 'kv.settings.ui.update', '{"changed": ["color"], "new": {"color": "blue"}}')), '{"all: disabled","gone: op","red: filter","size: columns"}', 'what would fire, and why not');
select is((select array_agg(distinct why) from core.test_triggers('shop', 'order.made') where name <> 'all'), '{collection}', 'an event is no mutation');
select is((select count(*)::int from core.replay_events('shop', 'default', '{"type": "kv.*"}') where delivered > 0), 0, 'mutations are not replayed');
select is((select count(*)::int from core.event_log e cross join lateral core.event_status(e.event_id)), 0, 'and have no status');
-- large
select core.alter_namespace('shop', '{"max_payload_bytes": 2048}');
select core.kv_set('shop', 'settings.a', 'big', to_jsonb(repeat('x', 2000)));
select core.kv_delete('shop', 'settings.a', 'big');
select is(pg_temp.got(), array['gone kv.settings.a.delete {"key": "big", "new": null, "old": null, "changed": null, "omitted": ["old", "new"]}'], 'what is too large for a payload is left out');
