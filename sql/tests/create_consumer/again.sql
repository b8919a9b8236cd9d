-- C1: created again
-- holds: C1, E1
select core.create_namespace('shop', '{"retry": {"max_attempts": 7}, "unhandled_after": "2 h"}');
select ok(core.create_consumer('shop', 'mail', '{order.*,user.made}', '{"retry": {"base": "10 s"}, "max_in_flight": 3, "rate": "100 / minute"}'), 'made');
select is((select row (patterns, queue_name, state, kind, exhausted, retry, max_in_flight, rate, starts_from)::text from core.consumers where name = 'mail'),
          '("{order.*,user.made}",core_events_shop__mail,active,unordered,dead,"{""base"": ""10 s""}",3,100/min,now)', 'as it was asked for');
select ok(not core.create_consumer('shop', 'mail', p, o::jsonb), 'nothing happens: ' || o)
  from (values ('{user.made,order.*,user.made}'::text[], '{}'), ('{order.*,user.made}', '{"rate": "100/min", "from": "now", "kind": "unordered", "exhausted": "dead", "max_in_flight": 3}'),
               ('{order.*,user.made}', '{"retry": {"base": "00:00:10", "max_attempts": 7, "jitter": 0.2}, "unhandled_after": "120 min"}')) v (p, o);
select is((select count(*)::int from core.audit_log where action = 'create_consumer'), 1, 'nor is anything noted');
select throws_ok(format($$select core.create_consumer('shop', 'mail', %L, %L)$$, p, o), 'NX212', 'consumer ''mail'' of namespace ''shop'' exists with other patterns or options: ' || m, m)
  from (values ('{order.*}', '{}', 'patterns is ["order.*", "user.made"], given ["order.*"]'),
               ('{order.*,user.made}', '{"max_in_flight": 4}', 'max_in_flight is 3, given 4'),
               ('{order.*,user.made}', '{"rate": "99/min"}', 'rate is 100/min, given 99/min'),
               ('{order.*,user.made}', '{"retry": {"max_attempts": 10}, "unhandled_after": "1 h"}', 'retry.max_attempts is 7, given 10; unhandled_after is 02:00:00, given 1 h')) v (p, o, m);
create function pg_temp.hint_of(p_call text) returns text language plpgsql as $$
declare
  v_hint text;
begin
  execute p_call;
  return null;
exception when others then
  get stacked diagnostics v_hint = pg_exception_hint;
  return v_hint;
end $$;
select core.create_consumer('shop', 'ledger', '{order.*}', '{"kind": "ordered", "lanes": 4}');
select core.outbox_register_queue('shop', 'moves', 4);
select alike(pg_temp.hint_of(q), '%core.outbox_repartition%', 'what changes the number of lanes: ' || q)
  from unnest(array[$$select core.create_consumer('shop', 'ledger', '{order.*}', '{"kind": "ordered", "lanes": 5}')$$, $$select core.outbox_register_queue('shop', 'moves', 5)$$]) q;
select core.drop_consumer('shop', 'ledger'), core.outbox_drop_queue('shop', 'moves');
select throws_ok(format($$select core.create_consumer('shop', 'x', '{a.b}', %L)$$, o), c, null, 'refused: ' || o)
  from (values ('{"nope": 1}', 'NX004'), ('{"kind": "odd"}', 'NX005'), ('{"lanes": 4}', 'NX005'), ('{"exhausted": "halt"}', 'NX005'), ('{"rate": "100"}', 'NX005'), ('{"rate": "0/s"}', 'NX005'),
               ('{"rate": 100}', 'NX005'), ('{"max_in_flight": 0}', 'NX005'), ('{"max_in_flight": 1.5}', 'NX005'), ('{"max_in_flight": "3"}', 'NX005'), ('{"retry": {"jitter": 2}}', 'NX007'),
               ('{"retry": {"base": "2 h", "max": "1 h"}}', 'NX007'), ('{"unhandled_after": "0"}', 'NX005'), ('{"from": "tomorrow"}', 'NX005'), ('[]', 'NX005')) v (o, c);
select throws_ok(format($$select core.create_consumer('shop', 'x', %L)$$, p), 'NX008', null, 'refused: ' || p) from unnest(array['{}', '{a b}', '{order*}', '{a.b,NULL}', '{{a.b}}']) p;
select throws_ok($$select core.create_consumer('shop', 'x', null)$$, 'NX008', null, 'no patterns');
select throws_ok($$select core.create_consumer('nowhere', 'x', '{a.b}')$$, 'NX101', null, 'no such namespace');
select is((select count(*)::int from core.consumers), 2, 'nothing is stored of what was refused');
select core.emit('shop', t) from unnest('{order.placed,user.made,user.gone}'::text[]) t;
select core.emit_batch('shop', '{order.placed,user.made,user.gone}', array_fill('{}'::jsonb, '{3}'));
select is((select array_agg(message ->> 'eventType' order by msg_id) from pgmq.q_core_events_shop__mail), '{order.placed,user.made,order.placed,user.made}'::text[], 'it gets what matches');
select is((select count(*)::int from pgmq.q_core_events_shop), 6, 'and default everything');
