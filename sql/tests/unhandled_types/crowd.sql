-- D7: thousands of types on one queue hide nothing of another's
-- holds: P1-hostile
select core.create_namespace('crowd');
select core.create_namespace('shop');
select core_node.register_node('crowd', 'a', true, '{x}');
select core_node.register_node('shop', 'b', true, '{x}');
select core.emit_batch('crowd', array(select 't' || g from generate_series(1, 1500) g), array_fill('1'::jsonb, array[1500]));
select core.emit('shop', 'y');
select core_private.park_unhandled();
select is((select array_agg(event_type) from core.unhandled_types where namespace = 'shop'), '{y}', 'one queue does not hide another');
select is((select count(event_type)::int from core.unhandled_types where namespace = 'crowd'), 100, 'a hundred types a queue');
select is((select array_agg(parked) from core.unhandled_types where namespace = 'crowd' and event_type is null), array[1400]::bigint[], 'and the number of the rest');
select is((select sum(parked)::int from core.unhandled_types), 1501, 'nothing is left out');
