-- NS1: again with the same options nothing happens, with others it is a conflict.
select ok(core.create_namespace('shop', '{"retry": {"max_attempts": 3}}'), 'made');
select ok(not core.create_namespace('shop', '{"retry": {"max_attempts": 3}}'), 'again: nothing');
select core.create_namespace('mall', '{"dedupe_for": "1h", "unhandled_after": "90 s", "default_consumer": "on", "retry": {"base": "1 min", "max": "1 day", "jitter": 0.10}}');
select ok(not core.create_namespace('mall', '{"dedupe_for": "3600 s", "unhandled_after": "00:01:30", "default_consumer": true, "retry": {"base": "60s", "max": "24:00:00", "jitter": 0.1}}'), 'the same said in other words: nothing');
select throws_ok(format('select core.create_namespace(''mall'', ''{"dedupe_for": "1h", "unhandled_after": "90 s", "default_consumer": "on", "retry": {"base": "1 min", "max": "1 day", "jitter": 0.1}}''::jsonb || %L)', o), 'NX201', null, 'but not ' || o)
  from unnest(array['{"dedupe_for": "61 min"}', '{"unhandled_after": "91 s"}', '{"default_consumer": "off"}', '{"retry": {"base": "2 min", "max": "1 day", "jitter": 0.1}}', '{"restricted": true}']) o;
select throws_ok($$select core.create_namespace('shop', '{}')$$, 'NX201', null, 'with other options: a conflict');
select lives_ok($$select core.alter_namespace('shop', '{"retry": {"max_attempts": 4}}')$$, 'alter');
select is((select retry ->> 'max_attempts' from core.namespaces where namespace = 'shop'), '4', 'altered');
select throws_ok(format('select core.create_namespace(''x'', %L)', o), c, null, c || ' for ' || o)
  from (values ('{"nope": 1}', 'NX004'), ('[]', 'NX005'), ('{"unhandled_after": 5}', 'NX005'), ('{"unhandled_after": "5"}', 'NX005'), ('{"unhandled_after": "five"}', 'NX005'),
               ('{"retry": {"base": "1 century"}}', 'NX005'), ('{"retry": {"jitter": 2}}', 'NX007'), ('{"retry": {"max_attempts": 0}}', 'NX007'),
               ('{"retry": {"shape": "square"}}', 'NX007'), ('{"retry": {"x": 1}}', 'NX007'), ('{"max_payload_bytes": 1.5}', 'NX005'), ('{"restricted": "yes"}', 'NX005'),
               ('{"default_consumer": "maybe"}', 'NX005'), ('{"metadata": 3}', 'NX005')) v(o, c);
select ok(not exists (select from core.namespaces where namespace = 'x'), 'nothing is stored of what was refused');
