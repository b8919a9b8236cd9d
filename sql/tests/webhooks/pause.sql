-- H5: one that fails for long is paused, and starts afresh when it is resumed
-- holds: H5
select core.create_namespace('shop');
select core.create_webhook('shop', 'a', 'https://a.example', '{*}', '{"pause_after": "1 h"}'), core.create_webhook('shop', 'never', 'https://a.example', '{*}', '{"pause_after": "0 s"}'), core.create_webhook('shop', 'gone', 'https://a.example', '{*}');
select is(core_node.note_webhook('shop', 'a', 'status 500'), 'active', 'a failure');
update nexus_test.clock set shift = shift + interval '59 min';
select is(core_node.note_webhook('shop', 'a', 'status 500'), 'active', 'not for long');
select is(core_node.note_webhook('shop', 'a'), 'active', 'a success');
select is((select failing_since from core.webhook_status where name = 'a'), null, 'ends it');
update nexus_test.clock set shift = shift + interval '2 h';
select is(core_node.note_webhook('shop', 'a', repeat('x', 5000)), 'active', 'the next one begins anew');
select is((select octet_length(last_error) from core.webhooks where name = 'a'), 1000, 'errors are bounded');
update nexus_test.clock set shift = shift + interval '60 min';
select is(core_node.note_webhook('shop', 'a', 'status 503'), 'paused', 'for long');
select is((select row (state, paused_reason, last_error)::text from core.webhook_status where name = 'a'), '(paused,"it failed for 01:00:00","status 503")', 'and says why');
select is(core_node.note_webhook('shop', 'a', 'status 503'), 'paused', 'one that was under way');
select is((select count(*)::int from core.audit_log where action = 'pause_webhook'), 1, 'noted once');
select core_node.note_webhook('shop', 'never', 'status 500');
update nexus_test.clock set shift = shift + interval '900 days';
select is(core_node.note_webhook('shop', 'never', 'status 500'), 'active', 'one that is never paused');
select is(core_node.note_webhook('shop', 'gone', 'status 410', true), 'paused', 'one that is gone, at once');
select ok(core.resume_consumer('shop', 'a'), 'resumed');
select is((select row (state, paused_reason, failing_since)::text from core.webhook_status where name = 'a'), '(active,,)', 'what was is forgotten');
select is(core_node.note_webhook('shop', 'a', 'status 500'), 'active', 'and time begins anew');
select core.pause_consumer('shop', 'a');
select is((select row (state, paused_reason)::text from core.webhook_status where name = 'a'), '(paused,)', 'somebody paused it');
select is(core_node.note_webhook('shop', 'none', 'x'), null, 'one that was dropped meanwhile');
select throws_ok($$select core_node.note_webhook('shop', 'a', null, null)$$, 'NX006', null, 'NULL');
