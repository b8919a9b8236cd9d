-- the keys given are replaced, the others stay
-- holds: NS1
select core.create_namespace('shop', '{"metadata": {"team": "a"}, "unhandled_after": "2 h"}');
select core.alter_namespace('shop', '{"dedupe_for": "1 day", "restricted": true}');
select is((select (metadata, unhandled_after, dedupe_for, restricted)::text from core.namespaces), '("{""team"": ""a""}",02:00:00,"1 day",t)', 'the others stay');
select ok(not core.create_namespace('shop', '{"metadata": {"team": "a"}, "unhandled_after": "2 h", "dedupe_for": "1 day", "restricted": true}'), 'a repeated create knows what was altered');
select throws_ok($$select core.alter_namespace('shop', '{"nope": 1}')$$, 'NX004', null, 'unknown');
select throws_ok($$select core.alter_namespace('nowhere', '{}')$$, 'NX101', null, 'no such namespace');
-- a retry policy key by key
select core.create_namespace('mall', '{"retry": {"max_attempts": 3, "base": "10 s", "max": "1 min", "jitter": 0.1}}');
select core.alter_namespace('mall', '{"retry": {"base": "20 s"}}');
select is((select retry from core.namespaces where namespace = 'mall'), '{"max_attempts": 3, "base": "20 s", "max": "1 min", "jitter": 0.1}', 'one key resets no other');
select core.alter_namespace('mall', '{"retry": {"jitter": null, "shape": "linear"}}');
select is((select retry from core.namespaces where namespace = 'mall'), '{"max_attempts": 3, "base": "20 s", "max": "1 min", "shape": "linear"}', 'null takes the default again');
select is((select options -> 'retry' from core.namespaces where namespace = 'mall'), (select retry from core.namespaces where namespace = 'mall'), 'what was given is remembered so');
select ok(not core.create_namespace('mall', '{"retry": {"jitter": 0.2, "base": "20 s"}}'), 'the default is in force');
select throws_ok($$select core.alter_namespace('mall', '{"retry": {"base": "2 min"}}')$$, 'NX007', 'retry.base is 2 min, more than retry.max, 1 min', 'what comes of it is checked');
select lives_ok($$select core.alter_namespace('mall', '{"retry": {"base": "2 min", "max": null}}')$$, 'as a whole');
select core.alter_namespace('mall', '{"dedupe_for": "1 day", "retry": {}}');
select is((select retry from core.namespaces where namespace = 'mall'), '{"max_attempts": 3, "base": "2 min", "shape": "linear"}', 'no key, no change');
select throws_ok(format('select core.alter_namespace(''mall'', %L)', o), 'NX007', null, 'refused: ' || o) from unnest(array['{"retry": {"bsae": null}}', '{"retry": null}', '{"retry": {"base": null, "x": 1}}']) o;
select throws_ok($$select core.alter_namespace('mall', null)$$, 'NX005', null, 'no options');
-- the defaults are those that delays are computed by
select is(core_node.retry_delay('{}', n, 0.7), core_node.retry_delay(core_private.retry_defaults(), n, 0.7), 'after attempt ' || n) from generate_series(1, 12) n;
select is(core_node.retry_delay('{}', 3, 0.5), interval '4 s', 'which are these'), is(core_node.retry_delay('{}', 20, 0), interval '4 min', 'and these'), is(core_private.max_attempts('{}', '{}'), 10, 'and so many');
