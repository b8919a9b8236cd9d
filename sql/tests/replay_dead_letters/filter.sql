-- L3, L4: by filter
-- holds: L3
select core.create_namespace('shop'), core.create_namespace('other');
select core.emit_batch('shop', '{a.x,a.y,b}', '{1,2,3}');
select core.emit('other', 'a.x');
select core_node.claim('core_events_shop', '{*}', '{0}', 10, '30 s'), core_node.claim('core_events_other', '{*}', '{0}', 10, '30 s');
select core_private.bury('core_events_shop', 'n', '{1,2,3}', '{1,1,1}', '{one,two,two}', '{e,e,e}'), core_private.bury('core_events_other', 'n', '{1}', '{1}', '{one}', '{e}');
update core.dead_letters set failed_at = timestamptz '2030-01-01T00:00:00Z' + dead_letter_id * interval '1 day';
create function pg_temp.hits(f jsonb) returns text language sql as $$ select string_agg(dead_letter_id::text, '' order by dead_letter_id) from core_private.filter_dead_letters(f) $$;
select is(pg_temp.hits(f), w, f::text) from (values
  ('{"namespace": "shop"}'::jsonb, '123'), ('{"type": "a.*"}', '124'), ('{"type": "b"}', '3'), ('{"type": "*"}', '1234'), ('{"reason": "two"}', '23'), ('{"source": "delivery"}', '1234'),
  ('{"source": "lane"}', null), ('{"ids": [2, 4, 99]}', '24'), ('{"before": "2030-01-03T00:00:00Z"}', '1'), ('{"after": "2030-01-03T00:00:00Z"}', '234'),
  ('{"after": "2030-01-03T01:00:00+01:00", "before": "2030-01-04T00:00:00Z"}', '2'), ('{"type": "*", "limit": 2}', '12'), ('{"namespace": "shop", "type": "a.*", "reason": "two"}', '2')) v(f, w);
select is((select (matched, done, skipped)::text from core.discard_dead_letters('{"reason": "two"}', 'known')), '(2,2,0)', 'discarded by filter');
select is((select count(*)::int from pgmq.q_core_events_shop_dlq), 1, 'with their copies');
select is((select (matched, done, skipped)::text from core.replay_dead_letters('{"ids": [1, 2, 3]}')), '(1,1,0)', 'what is resolved matches no more');
select throws_ok($$select core.replay_dead_letters('{"type": "*"}', '{"payload": 1}')$$, 'NX005', null, 'an edited payload is for one');
select throws_ok($$select core.replay_dead_letters('{"ids": [4]}', '{"payload": 1e309}')$$, 'NX003', null, 'and checked like any');
select throws_ok(format('select core.replay_dead_letters(%L, ''{"payload": 1}'')', f), 'NX009', null, 'no id: ' || f) from unnest(array['{"ids": ["x"]}', '{"ids": [1.5]}', '{"ids": [null]}']) f;
select throws_ok(format('select core.replay_dead_letters(%L)', f), 'NX009', null, 'refused, since it could match nothing: ' || f) from unnest(array[
  '{"source": "nonsense"}', '{"source": null}', '{"source": 7}', '{"reason": null}', '{"reason": ""}', '{"reason": ["a"]}', '{"type": null}', '{"namespace": null}', '{"namespace": ""}', '{"ids": 4}', '{"limit": 0, "type": "*"}']) f;
-- the consumer is gone
update core.dead_letters set consumer = 'gone' where dead_letter_id = 4;
select is((select (matched, done, skipped)::text from core.replay_dead_letters('{"ids": [4]}')), '(1,0,1)', 'skipped when its consumer is gone');
select throws_ok('select core.replay_dead_letter(4)', 'NX207', null, 'or refused, one by one');
select is((select status from core.dead_letters where dead_letter_id = 4), 'pending', 'and left as it was');
