-- T8: settings of the database, and the options of a namespace that win
-- holds: T8
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create role t_admin login in role nexus_admin; create role t_reader login in role nexus_reader; create role t_operator login in role nexus_operator;
select core.create_namespace('shop'), core.create_namespace('mall');
create function pg_temp.said(p_call text) returns text language plpgsql as $$
declare v_column text; begin execute 'select ' || p_call; return 'done';
exception when others then get stacked diagnostics v_column = column_name; return sqlstate || ' ' || v_column; end $$;
create function pg_temp.depths(p_namespace text) returns integer[] language sql as $$
  select array_agg(d order by d) from generate_series(1, 12) d
   where exists (select from core.test_triggers(p_namespace, 'a', '{}', d) x where x.name = 'all' and x.why is distinct from 'depth') $$;
create function pg_temp.fired(p_namespace text, p_depth integer) returns integer[] language plpgsql as $$
declare v integer[] := '{}'; begin
  perform core.emit(p_namespace, 'a', '1', jsonb_build_object('depth', p_depth));
  execute format('with gone as (delete from pgmq.q_core_events_%s__triggers returning 1) select array[count(*)] from gone', p_namespace) into v;
  perform core.emit_batch(p_namespace, '{a}', array['1']::jsonb[], array[jsonb_build_object('depth', p_depth)]);
  execute format('with gone as (delete from pgmq.q_core_events_%s__triggers returning 1) select $1 || count(*)::integer from gone', p_namespace) into v using v; return v; end $$;
create function pg_temp.policy(p_name text, p_options jsonb = '{}') returns text language sql as $$
  select core.create_trigger('shop', p_name, '{"event": {"pattern": "never"}}', 'go:mail', p_options); select (retry - 'jitter')::text from core.trigger_status where name = p_name $$;

set session authorization t_reader; set search_path = tap, pg_catalog;
select is((select to_jsonb(s) from core.settings s), '{"max_trigger_depth": 8, "trigger_retry": {"max_attempts": 3, "shape": "exponential", "base": "1 s", "max": "5 min", "jitter": 0.2}, "dead_letter_retention": "30 days", "abandoned_retention": "7 days"}', 'as installed');
set session authorization t_operator; set search_path = tap, pg_catalog;
select is(pg_temp.said($$core.alter_settings('{"max_trigger_depth": 3}')$$), '42501 ', 'operators change none');
set session authorization t_admin; set search_path = tap, pg_catalog;
select is(pg_temp.said(format('core.alter_settings(%L)', o)), e, o || ' is refused') from (values ('{"max_trigger_depth": 0}', 'NX005 max_trigger_depth'), ('{"max_trigger_depth": 1.5}', 'NX005 max_trigger_depth'), ('{"max_trigger_depth": "default"}', 'NX005 max_trigger_depth'), ('{"trigger_retry": {"max_attempts": 0}}', 'NX007 trigger_retry.max_attempts'), ('{"dead_letter_retention": "1 s"}', 'NX005 dead_letter_retention'), ('{"abandoned_retention": "x"}', 'NX005 abandoned_retention'), ('{"retry": {}}', 'NX004 retry'), ('[]', 'NX005 p_options')) v(o, e);
select is(pg_temp.said(format('core.alter_namespace(''shop'', %L)', o)), e, o || ' is refused of a namespace') from (values ('{"max_trigger_depth": 0}', 'NX005 max_trigger_depth'), ('{"trigger_retry": 7}', 'NX007 trigger_retry'), ('{"dead_letter_retention": null}', 'NX005 dead_letter_retention')) v(o, e);
select core.create_trigger(n, 'all', '{"event": {"pattern": "a"}}', 'go:mail') from unnest('{shop,mall}'::text[]) n;
select is(pg_temp.policy('first'), '{"max": "300000 ms", "base": "1000 ms", "shape": "exponential", "max_attempts": 3}', 'retries as installed');

-- depth
select core.alter_settings('{"max_trigger_depth": 3, "trigger_retry": {"max_attempts": 5, "shape": "linear"}}'), core.alter_namespace('mall', '{"max_trigger_depth": 5}');
select is(array[max(d)], '{3}', 'no deeper than the database says') from unnest(pg_temp.depths('shop')) d;
select is(array[max(d)], '{5}', 'or the namespace') from unnest(pg_temp.depths('mall')) d;
reset session authorization;
select is(pg_temp.fired(n, d), f, format('%s at %s', n, d)) from (values ('shop', 3, '{1,1}'::integer[]), ('shop', 4, '{0,0}'), ('mall', 5, '{1,1}'), ('mall', 6, '{0,0}')) v(n, d, f);
select is(core.alter_namespace('mall', '{"max_trigger_depth": "default"}')::text, '', 'back');
select is(pg_temp.fired('mall', 4), '{0,0}', 'to what the database says');
-- retries are kept
select is(pg_temp.policy('first'), '{"max": "300000 ms", "base": "1000 ms", "shape": "exponential", "max_attempts": 3}', 'what was created before has its own, also said again');
select is(pg_temp.policy('second'), '{"max": "300000 ms", "base": "1000 ms", "shape": "linear", "max_attempts": 5}', 'what comes now that of the database');
select is((select trigger_retry ->> 'max' from core.settings), '5 min', 'what was not given stays');
select core.alter_namespace('shop', '{"trigger_retry": {"max_attempts": 7}}');
select is(pg_temp.policy('third'), '{"max": "300000 ms", "base": "1000 ms", "shape": "linear", "max_attempts": 7}', 'or of the namespace');
select is(pg_temp.policy('fourth', '{"retry": {"max_attempts": 9, "base": "2 s"}}'), '{"max": "300000 ms", "base": "2000 ms", "shape": "linear", "max_attempts": 9}', 'above them its own');
select is(pg_temp.policy('first', '{"replace": true}'), '{"max": "300000 ms", "base": "1000 ms", "shape": "linear", "max_attempts": 7}', 'replaced it takes what is left out anew');
-- said again of a namespace
select is(core.create_namespace('shop', '{"trigger_retry": {"max_attempts": 7}, "max_trigger_depth": "default"}'), false, 'alike');
select is(pg_temp.said($$core.create_namespace('shop', '{"max_trigger_depth": 4}')$$), 'NX201 p_options', 'otherwise');

-- retention
create function pg_temp.retention() returns jsonb language sql security definer set search_path = pg_catalog, pg_temp as $$ select core_private.apply_retention() $$;
alter function pg_temp.retention owner to nexus_owner;
select core.alter_settings('{"dead_letter_retention": "10 days", "abandoned_retention": "4 days"}'), core.alter_namespace('mall', '{"dead_letter_retention": "20 days", "abandoned_retention": "8 days"}');
insert into core.dead_letters (namespace, source_kind, source_ref, payload, attempts, failed_at, reason, status, resolution, resolved_at, resolved_by)
select n, 'delivery', jsonb_build_object('n', n), '1', 1, core.now(), 'x', 'resolved', 'ignored', core.now(), 'x' from unnest('{shop,mall}'::text[]) n;
insert into core.abandoned_executions (inbox_id, namespace, target, status, why, created_at) select gen_random_uuid(), n, 'go:a', 200, 'nobody waits', core.now() from unnest('{shop,mall}'::text[]) n;
create function pg_temp.left_after(p_shift interval) returns text language plpgsql as $$ begin
  update nexus_test.clock set shift = p_shift; perform pg_temp.retention();
  return concat_ws(' ', (select string_agg(left(namespace, 1), '' order by namespace) from core.dead_letters), '|', (select string_agg(left(namespace, 1), '' order by namespace) from core.abandoned_executions), '|', (select count(*) > 0 from core.trigger_drops)); end $$;
select is(pg_temp.left_after(s), w, s::text) from (values ('3 days 23 h'::interval, 'ms | ms | t'), ('4 days 1 h', 'ms | m | t'), ('7 days 1 h', 'ms | m | f'), ('8 days 1 h', 'ms | | f'), ('10 days 1 h', 'm | | f'), ('19 days', 'm | | f'), ('20 days 1 h', '| | f')) v(s, w);
