-- Every refusal names the value at fault, the argument or option (it reaches Go as Error.Field), and a way out
select core.create_namespace('shop');
create function pg_temp.refusal(p_sql text, out code text, out field text, out message text, out hint text) language plpgsql as $$
begin
  execute p_sql;
exception when others then
  get stacked diagnostics code = returned_sqlstate, field = column_name, message = message_text, hint = pg_exception_hint;
end $$;
create temporary table refused as
select v.q, v.c, v.f, r.* from (values
  ($q$core.create_namespace('A')$q$, 'NX001', 'p_namespace'), ($q$core.create_namespace('x', '{"nope": 1}')$q$, 'NX004', 'nope'), ($q$core.create_namespace('x', '{"retry": {"jitter": 2}}')$q$, 'NX007', 'retry.jitter'),
  ($q$core.create_namespace('shop', '{"restricted": true}')$q$, 'NX201', 'p_options'), ($q$core.drop_namespace('shop', '')$q$, 'NX206', 'p_confirm'), ($q$core.grant_namespace('shop', 'nobody', 'read')$q$, 'NX107', 'p_role'),
  ($q$core.grant_namespace('shop', 'postgres', 'rule')$q$, 'NX006', 'p_duty'), ($q$core.emit('shop', 'a b')$q$, 'NX002', 'p_event_type'), ($q$core.emit('shop', 'a', '1e309')$q$, 'NX003', 'p_payload'),
  ($q$core.emit('shop', 'a', '1', '{"delay": 5}')$q$, 'NX005', 'delay'), ($q$core.emit('shop', 'a', '1', '{"headers": {"nexus-due": "x"}}')$q$, 'NX005', 'headers.nexus-due'),
  ($q$core.emit_batch('shop', '{a,b}', '{1,2}', array[null, '{"tags": 1}']::jsonb[])$q$, 'NX005', 'tags[2]'), ($q$core.emit_batch('shop', '{a,.b}', '{1,2}')$q$, 'NX002', 'p_event_types[2]'),
  ($q$core.emit_batch('shop', '{a,b}', array['1', '1e309']::jsonb[])$q$, 'NX003', 'p_payloads[2]'), ($q$core_node.claim('nope', '{a}', '{0}', 1, '1 s')$q$, 'NX103', 'p_queue'), ($q$core.ack('shop', 'nope', 1, 1, core.now())$q$, 'NX102', 'p_consumer'),
  ($q$core.ack('shop', 'default', 1, 1, core.now())$q$, 'NX301', 'p_read_ct'), ($q$core_node.register_node('shop', 'a b', true, '{}')$q$, 'NX006', 'p_node_id'), ($q$core.replay_dead_letter(1)$q$, 'NX105', 'p_dead_letter_id'),
  ($q$core.replay_dead_letters('{}')$q$, 'NX009', 'p_filter'), ($q$core.run_sweep('nope')$q$, 'NX106', 'p_name')) v(q, c, f)
 cross join lateral pg_temp.refusal('select ' || v.q) r;
select is(code || ' ' || field, c || ' ' || f, q) from refused;
select ok(hint <> '' and message <> '', 'a message and a way out: ' || q) from refused;
