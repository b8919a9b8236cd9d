-- NS1: again, what is given must be what is in force; what is left out is no opinion.
-- holds: NS1, not-yet-refused
create function pg_temp.refused(p_namespace text, p_options jsonb, out code text, out said text, out hint text) language plpgsql as $$
begin
  perform core.create_namespace(p_namespace, p_options);
exception when others then
  get stacked diagnostics code = returned_sqlstate, said = message_text, hint = pg_exception_hint;
end $$;
select ok(core.create_namespace('shop', '{"retry": {"max_attempts": 3}}'), 'made');
select ok(not core.create_namespace('shop', '{"retry": {"max_attempts": 3}}'), 'again: nothing');
select ok(not core.create_namespace('shop', o::jsonb), o || ' has no other opinion')
  from unnest(array['{}', '{"retry": {}}', '{"retry": {"shape": "exponential", "max": "300 s", "jitter": 0.20}}', '{"dedupe_for": "7 days", "restricted": false, "metadata": {}, "max_payload_bytes": 8388608}']) o;
select core.create_namespace('mall', '{"dedupe_for": "1h", "unhandled_after": "90 s", "default_consumer": "on", "retry": {"base": "1 min", "max": "1 day", "jitter": 0.10}}');
select ok(not core.create_namespace('mall', '{"dedupe_for": "3600 s", "unhandled_after": "00:01:30", "default_consumer": true, "retry": {"base": "60s", "max": "24:00:00", "jitter": 0.1}}'), 'the same said in other words: nothing');
select is((pg_temp.refused('mall', o::jsonb)).code, 'NX201', 'but not ' || o)
  from unnest(array['{"dedupe_for": "61 min"}', '{"unhandled_after": "91 s"}', '{"retry": {"base": "2 min"}}', '{"retry": {"shape": "linear"}}', '{"restricted": true}', '{"metadata": {"a": 1}}', '{"max_payload_bytes": 8388609}']) o;
-- what was altered is no conflict with who says nothing of it; who does hears what differs, and the hint mends that and nothing else
select core.alter_namespace('mall', '{"unhandled_after": "3 days"}');
select ok(not core.create_namespace('mall'), 'altered, and created again without options');
select ok(not core.create_namespace('mall', '{"dedupe_for": "1h"}'), 'or with others');
create temporary table r as select * from pg_temp.refused('mall', '{"unhandled_after": "1 day", "retry": {"base": "1 min", "max": "2 days"}, "dedupe_for": "1h"}');
select is((select said from r), 'namespace ''mall'' exists with other options: retry.max is 1 day, given 2 days; unhandled_after is 3 days, given 1 day', 'what differs');
do $$ begin execute (select substring(hint from 'select core\..*;$') from r); end $$;
select ok(not core.create_namespace('mall', '{"unhandled_after": "1 day", "retry": {"base": "1 min", "max": "2 days"}, "dedupe_for": "1h"}'), 'the hint mends it');
select is((select retry from core.namespaces where namespace = 'mall'), '{"base": "1 min", "max": "2 days", "jitter": 0.10}', 'and leaves the rest of the policy');
select throws_ok(format('select core.create_namespace(''x'', %L)', o), c, null, c || ' for ' || o)
  from (values ('{"nope": 1}', 'NX004'), ('[]', 'NX005'), ('{"unhandled_after": 5}', 'NX005'), ('{"unhandled_after": "5"}', 'NX005'), ('{"unhandled_after": "five"}', 'NX005'),
               ('{"retry": {"base": "1 century"}}', 'NX005'), ('{"retry": {"jitter": 2}}', 'NX007'), ('{"retry": {"max_attempts": 0}}', 'NX007'),
               ('{"retry": {"shape": "square"}}', 'NX007'), ('{"retry": {"x": 1}}', 'NX007'), ('{"retry": {"base": "2 h", "max": "119 min"}}', 'NX007'), ('{"max_payload_bytes": 1.5}', 'NX005'), ('{"restricted": "yes"}', 'NX005'),
               ('{"default_consumer": "maybe"}', 'NX005'), ('{"metadata": 3}', 'NX005')) v(o, c);
select lives_ok($$select core.alter_namespace('shop', '{"default_consumer": "off"}')$$, 'the consumer default can be switched off');
select is((select e.message_id from core.emit('shop', 'a.b') e), null, 'then it gets nothing');
select core.alter_namespace('shop', '{"default_consumer": "on"}');
select ok(not exists (select from core.namespaces where namespace = 'x'), 'nothing is stored of what was refused');
