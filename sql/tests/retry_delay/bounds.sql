-- D5
-- holds: D5, hostile-arguments, others-backoff
select is((select count(*)::int from unnest(array[-1, 0, 1, 2, 10, 63, 64, 1000, 2147483647]) n, unnest(array['exponential', 'linear', 'constant']) s, unnest(array[0, 0.5, 1]) r, unnest(array[0, 0.2, 1]) j
            where core_node.retry_delay(jsonb_build_object('shape', s, 'base', '30 days', 'max', '30 days', 'jitter', j), n, r) not between interval '0' and interval '30 days'), 0, 'never negative, never above max');
select is(array(select core_node.retry_delay('{"jitter": 0}', n) from generate_series(1, 10) n)::text[], array['00:00:01', '00:00:02', '00:00:04', '00:00:08', '00:00:16', '00:00:32', '00:01:04', '00:02:08', '00:04:16', '00:05:00'], 'the default doubles from 1 s to 5 min');
select is(core_node.retry_delay('{"shape": "linear", "base": "2 s", "jitter": 0}', 3), interval '6 s', 'linear');
select is(core_node.retry_delay('{"shape": "constant", "base": "2 s", "jitter": 0}', 9), interval '2 s', 'constant');
select is(core_node.retry_delay('{"base": "10 s", "jitter": 0.2}', 1, 0), interval '8 s', 'jitter below');
select is(core_node.retry_delay('{"base": "10 s", "jitter": 0.2}', 1, 1), interval '12 s', 'jitter above');
select is(core_node.retry_delay('{"base": "1 h", "jitter": 0}', n), interval '1 h', 'a base beyond the max that nobody gave holds') from generate_series(1, 2) n;
select is(core_node.retry_delay('{"base": "1 h", "max": "1 min", "jitter": 0.2}', 1, 1), interval '1 h', 'or that somebody else gave, and is then the max');
select is(core_node.retry_delay(null, null, 0.5), interval '1 s', 'without a policy the default');
select throws_ok(format('select core_node.retry_delay(%L, 1)', p), c, null, 'refused by name: ' || p) from (values
  ('{"jitter": "x"}', 'NX007'), ('{"jitter": null}', 'NX007'), ('{"jitter": 1e999}', 'NX007'), ('{"jitter": -0.1}', 'NX007'), ('{"shape": "round"}', 'NX007'), ('{"nope": 1}', 'NX007'), ('[]', 'NX007'), ('{"base": 5}', 'NX005'), ('{"max": "40 days"}', 'NX005')) v(p, c);
