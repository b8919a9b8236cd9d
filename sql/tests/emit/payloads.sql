-- E3
-- holds: E3
select core.create_namespace('shop', '{"max_payload_bytes": 5000}');
select lives_ok(format('select core.emit(''shop'', ''x'', %L)', p), 'accepts ' || left(p, 30))
  from unnest(array['null', 'true', '1', '"s"', '[]', '{}', '1.7976931348623157e308', '-1e308', '1e-400', '"' || repeat('9', 400) || '"', repeat('[', 1000) || repeat(']', 1000)]) p;
select throws_ok(format('select core.emit(''shop'', ''x'', %L)', p), c, null, c || ' for ' || left(p, 30))
  from (values ('1e309', 'NX003'), ('{"a": [-1e400]}', 'NX003'), (repeat('[', 1001) || repeat(']', 1001), 'NX003'), ('"' || repeat('x', 5000) || '"', 'NX601')) v(p, c);
select throws_ok($$select core.emit('shop', 'x', null)$$, 'NX003', null, 'refuses SQL NULL');
select throws_ok($$select core.emit('shop', 'x', '"\u0000"')$$, '22P05', null, 'what jsonb refuses keeps its SQLSTATE');
