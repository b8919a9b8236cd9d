-- the keys given are replaced, the others stay
select core.create_namespace('shop', '{"metadata": {"team": "a"}, "unhandled_after": "2 h"}');
select core.alter_namespace('shop', '{"dedupe_for": "1 day", "restricted": true}');
select is((select (metadata, unhandled_after, dedupe_for, restricted)::text from core.namespaces), '("{""team"": ""a""}",02:00:00,"1 day",t)', 'the others stay');
select ok(not core.create_namespace('shop', '{"metadata": {"team": "a"}, "unhandled_after": "2 h", "dedupe_for": "1 day", "restricted": true}'), 'a repeated create knows what was altered');
select throws_ok($$select core.alter_namespace('shop', '{"nope": 1}')$$, 'NX004', null, 'unknown');
select throws_ok($$select core.alter_namespace('nowhere', '{}')$$, 'NX101', null, 'no such namespace');
