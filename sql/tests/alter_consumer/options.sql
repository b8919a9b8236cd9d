-- C3: the options given are replaced, the others stay
-- holds: C3
select core.create_namespace('shop');
select core.create_consumer('shop', 'mail', '{a.*}', '{"retry": {"max_attempts": 3, "base": "10 s"}, "rate": "5/s", "max_in_flight": 2, "unhandled_after": "1 day"}');
select core.alter_consumer('shop', 'mail', null, '{"retry": {"base": "20 s"}, "max_in_flight": 4}');
select is((select row (patterns, retry, max_in_flight, rate, unhandled_after)::text from core.consumers where name = 'mail'), '({a.*},"{""base"": ""20 s"", ""max_attempts"": 3}",4,5/s,"1 day")', 'the others stay');
select core.alter_consumer('shop', 'mail', null, '{"retry": {"max_attempts": null}, "max_in_flight": null, "rate": null, "unhandled_after": null}');
select is((select row (retry, max_in_flight, rate, unhandled_after)::text from core.consumers where name = 'mail'), '("{""base"": ""20 s""}",,,)', 'null takes the default again');
select core.alter_consumer('shop', 'mail', null, '{"retry": null}');
select is((select retry from core.consumers where name = 'mail'), '{}', 'of a whole policy too');
select throws_ok(format('select core.alter_consumer(''shop'', ''mail'', null, %L)', o), c, null, 'refused: ' || o)
  from (values ('{"from": "now"}', 'NX004'), ('{"kind": "unordered"}', 'NX004'), ('{"retry": {"base": "1 h", "max": "1 s"}}', 'NX007'), ('{"rate": "x"}', 'NX005'), ('{"retry": {"bsae": null}}', 'NX007'), ('null', 'NX005')) v (o, c);
select core.alter_consumer('shop', 'default', null, '{"retry": {"max_attempts": 5}}');
select is(core_private.max_attempts(c.retry, n.retry), 5, 'default has options too') from core.consumers c join core.namespaces n using (namespace) where c.name = 'default';
