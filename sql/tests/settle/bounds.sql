-- I5: what a consumer says is kept up to a size, and odd fences are answered as those that nobody has
-- holds: D2-bounds
select core.create_namespace('shop');
select core.emit_batch('shop', array_fill('a'::text, array[3]), array_fill('{}'::jsonb, array[3]));
create temporary table c as select * from core_node.claim('core_events_shop', '{a}', '{0}', 10, '30 s') where outcome = 'claimed';
select is((select array_agg(s.outcome order by s.msg_id) from core_node.settle('core_events_shop', repeat('n', 100000), '{}', '{}', '{}', pg_temp.failed('{1,2}', '{1,1}', (select array_agg(last_read_at order by msg_id) from c where msg_id < 3), '{retry,reject}', '{null,null}', array[null,null]::jsonb[], array_fill(repeat('r', 100000), array[2]), array_fill(repeat('e', 100000), array[2]))) s), '{retried,buried}', 'long texts are taken');
select is((select array_agg(distinct greatest(octet_length(reason), octet_length(error)) <= 8192 and octet_length(node_id) <= 200) from core.delivery_errors), '{t}', 'and cut in the history');
select is((select greatest(octet_length(reason), octet_length(last_error)) <= 8192 from core.dead_letters), true, 'and in the dead letter');
select is((select s.outcome from core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', pg_temp.failed('{3}', '{1}', array[t]::timestamptz[], '{retry}', '{null}', array[null]::jsonb[], '{x}', '{x}')) s),
          'lost', 'a fence at ' || t) from unnest('{infinity,-infinity,294276-12-31,4713-01-01 BC}'::text[]) t;
