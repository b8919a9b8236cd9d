-- NS1: again with the same options nothing happens, with others it is a conflict.
select ok(core.create_namespace('shop', '{"retry": {"max_attempts": 3}}'), 'made');
select ok(not core.create_namespace('shop', '{"retry": {"max_attempts": 3}}'), 'again: nothing');
select throws_ok($$select core.create_namespace('shop', '{}')$$, 'NX201', null, 'with other options: a conflict');
select lives_ok($$select core.alter_namespace('shop', '{"retry": {"max_attempts": 4}}')$$, 'alter');
select is((select retry ->> 'max_attempts' from core.namespaces where namespace = 'shop'), '4', 'altered');
select throws_ok(format('select core.create_namespace(''x'', %L)', o), c, null, c || ' for ' || o)
  from (values ('{"nope": 1}', 'NX004'), ('[]', 'NX005'), ('{"unhandled_after": 5}', 'NX005'), ('{"unhandled_after": "5"}', 'NX005'), ('{"unhandled_after": "five"}', 'NX005'),
               ('{"retry": {"base": "1 century"}}', 'NX005'), ('{"retry": {"jitter": 2}}', 'NX007'), ('{"retry": {"max_attempts": 0}}', 'NX007'),
               ('{"retry": {"shape": "square"}}', 'NX007'), ('{"retry": {"x": 1}}', 'NX007'), ('{"max_payload_bytes": 1.5}', 'NX005'), ('{"restricted": "yes"}', 'NX005'),
               ('{"default_consumer": "maybe"}', 'NX005'), ('{"metadata": 3}', 'NX005')) v(o, c);
select ok(not exists (select from core.namespaces where namespace = 'x'), 'nothing is stored of what was refused');
