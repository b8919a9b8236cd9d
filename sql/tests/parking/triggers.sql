-- T11: in default, what a trigger had is removed and counted
-- holds: T11
select core.create_namespace('shop', '{"unhandled_after": "1 s"}');
select core.emit('shop', 'mail.sent', '"before"');
update nexus_test.clock set shift = '1 s';
select core.create_trigger('shop', n, jsonb_build_object('event', jsonb_build_object('pattern', p, 'contains', c)), 'go:mail', o) from (values ('mail', 'mail.*', '{"to": "a"}'::jsonb, '{}'::jsonb), ('off', 'off', '{}', '{"enabled": false}'), ('late', 'late', '{}', '{"enabled": false}'), ('other', 'other', '{}', '{}')) v(n, p, c, o);
select is((select named_consumers from core.namespaces), false, 'an emit looks for no named consumers');
select core.emit_batch('shop', '{mail.sent,mail.sent,off,late,mail.sent,other}', array['{"to": "a", "n": "had"}', '{"to": "b"}', '"off"', '"late"', '{"to": "a", "n": "deep"}', '"other"']::jsonb[], array[null, null, null, null, '{"depth": 9}', null]::jsonb[]);
update nexus_test.clock set shift = '2 s';
select core.enable_trigger('shop', 'late'), core.disable_trigger('shop', 'mail');
select core.create_trigger('shop', 'other', '{"event": {"pattern": "*"}}', 'go:new', '{"replace": true}');
select core.create_trigger('shop', 'after', '{"event": {"pattern": "*"}}', 'go:mail');
select core_node.register_node('shop', 'n', true, '{x,go:mail}', '{}', '{default,triggers}');
select core_private.park_unhandled();
update nexus_test.clock set shift = '4 s';
select is(core_private.park_unhandled(), '{"buried": 6, "parked": 0, "removed": 1, "unparked": 0}', 'given up');
select is((select array_agg(coalesce(payload ->> 'n', payload ->> 'to', payload #>> '{}') order by event_id) from core.dead_letters), '{before,b,off,late,deep,other}', 'all but what a trigger had that was there as it is now, enabled, matched, and fired');
select is((select removed from core_private.parking where queue_name = 'core_events_shop'), 1::bigint, 'which is counted');
