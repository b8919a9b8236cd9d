-- Whatever takes a payload refuses what cannot be kept or is too large by the same codes, writes nothing then, and keeps every digit of what it takes
-- holds: others-payloads, others-commands (quotes), others-large
select core.create_namespace('shop', '{"max_payload_bytes": 5000}');
select core_node.register_workflow('shop', 'w', 1, '[{"name": "a", "kind": "step"}]');
create temporary table run as select run_id from core.start_workflow('shop', 'w');
select core_node.require_routed('shop', 'requests');
select core_node.register_node('shop', 'n', true, '{go:asked}', p_consumers => '{requests}');
create temporary table ways (name text, call text, kept text); -- call has $1 for the payload, kept looks for what was written
insert into ways values
  ('emit', 'core.emit(''shop'', ''x'', $1)', 'select payload from core.event_log where event_type = ''x'' and deliver_at is null'),
  ('emit with options', 'core.emit(''shop'', ''o'', $1, ''{"tags": ["a"]}'')', 'select payload from core.event_log where event_type = ''o'''),
  ('batch', 'count(*) from core.emit_batch(''shop'', ''{b,b}'', array[''1'', $1]::jsonb[])', 'select payload from core.event_log where event_type = ''b'' order by event_id desc limit 1'),
  ('log', 'core.append_event_log(''shop'', ''l'', $1, null)', 'select payload from core.event_log where event_type = ''l'''),
  ('schedule', 'core.schedule_event(''shop'', ''s'', $1, ''2040-01-01 00:00:00Z'')', 'select payload from core.scheduled_events'),
  ('task', 'core.schedule_task(''shop'', ''t'', ''0 4 * * *'', ''t'', $1)', 'select payload from core.scheduled_tasks where name = ''t'''),
  ('trigger', 'core.create_trigger(''shop'', ''tr'', jsonb_build_object(''cron'', jsonb_build_object(''cron_expression'', ''0 4 * * *'', ''payload'', $1)), ''go:tr'')',
   'select payload from core.scheduled_tasks where name = ''trigger/tr'''),
  ('start', 'core.start_workflow(''shop'', ''w'', $1)', 'select input from core_private.workflow_runs where input <> ''{}'''),
  ('start with options', 'core.start_workflow(''shop'', ''w'', $1, ''{"tags": ["a"]}'')', 'select input from core_private.workflow_runs where tags is not null'),
  ('signal', 'core.signal_workflow((select run_id from run), ''go'', $1)', 'select payload from core_private.workflow_signals'),
  ('set', 'core.kv_set(''shop'', ''c'', ''k'', $1)', 'select value from core.kv_entries where key = ''k'''),
  ('compare and set', 'core.kv_cas(''shop'', ''c'', ''cas'', $1, 0)', 'select value from core.kv_entries where key = ''cas'''),
  ('request', 'core.request(''shop'', ''asked'', $1)', 'select payload from core.event_log where event_type = ''asked''');
create function pg_temp.said(p_call text, p_payload text) returns text language plpgsql as $$
begin
  execute 'select ' || replace(p_call, '$1', quote_literal(p_payload) || '::jsonb');
  return 'taken';
exception when others then
  return sqlstate;
end $$;
create function pg_temp.count_of(p_sql text) returns bigint language plpgsql as $$ declare n bigint; begin execute 'select count(*) from (' || p_sql || ') k' into n; return n; end $$;
create function pg_temp.text_of(p_sql text) returns text language plpgsql as $$ declare t text; begin execute 'select string_agg(k.*::text, '' '') from (' || p_sql || ') k' into t; return t; end $$;
create temporary table before as select name, pg_temp.count_of(kept) as n from ways;
select is(array(select format('%s: %s for %s', w.name, s.said, p.why) from ways w cross join lateral (values
    ('22P05', 'a NUL', '{"a": "x\u0000"}'), ('NX003', 'a number', '{"a": [1e309]}'), ('NX003', 'its depth', repeat('[', 1001) || repeat(']', 1001)),
    ('NX601', 'its size', to_json(repeat('x', 5000))::text)) p(code, why, payload)
  cross join lateral pg_temp.said(w.call, p.payload) s(said) where s.said <> p.code), '{}', 'refused by the same codes everywhere');
select is(array(select w.name from ways w join before b using (name) where pg_temp.count_of(w.kept) <> b.n), '{}', 'and nothing is written');
select is(array(select w.name || ': ' || s.said from ways w cross join lateral pg_temp.said(w.call, '{"id": 9007199254740993, "big": 123456789012345678901234567890, "tenth": 1.10, "s": "$$;''\") --"}') s(said)
   where s.said <> 'taken'), '{}', 'all take numbers of any length, and quotes');
select is(array(select w.name || ': ' || coalesce(pg_temp.text_of(w.kept), '') from ways w
   where pg_temp.text_of(w.kept) not like '%9007199254740993%123456789012345678901234567890%' or pg_temp.text_of(w.kept) not like '%1.10%'), '{}', 'and keep every digit');
