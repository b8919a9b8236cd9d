-- K7: what cannot be kept is refused by name
-- holds: K7 (limits)
select core.create_namespace('shop', '{"max_payload_bytes": 2000}');
create function pg_temp.said(p_call text) returns text language plpgsql as $$
declare v_column text;
begin
  execute 'select ' || p_call;
  return 'done';
exception when others then
  get stacked diagnostics v_column = column_name;
  return sqlstate || ' ' || v_column || ': ' || sqlerrm;
end $$;
select is(pg_temp.said(format($$core.kv_set('shop', 'c', %L, '1')$$, k)), said, 'a key: ' || coalesce(left(said, 40), '')) from (values
  (null, 'NX016 p_key: key NULL cannot be used: it is NULL'),
  ('', 'NX016 p_key: key '''' cannot be used: it is empty'),
  (E'a\nb', E'NX016 p_key: key ''a\nb'' cannot be used: it holds a control character'),
  (E'a\x7f', E'NX016 p_key: key ''a\x7f'' cannot be used: it holds a control character'),
  (E'\x01', E'NX016 p_key: key ''\x01'' cannot be used: it holds a control character'),
  (E'a\x1f', E'NX016 p_key: key ''a\x1f'' cannot be used: it holds a control character'),
  (repeat('é', 257), 'NX016 p_key: key ' || quote_literal(repeat('é', 100)) || ' cannot be used: it has 514 bytes, at most 512 are allowed'),
  (repeat('é', 256), 'done'), (' ', 'done'), ('a b', 'done'), ('/', 'done'), ('漢/字', 'done'), ('~', 'done')) k (k, said);
select is(pg_temp.said(format($$core.kv_set('shop', %L, 'k', '1')$$, c)), said, 'a collection: ' || coalesce(left(said, 50), '')) from (values
  (null, 'NX016 p_collection: collection NULL cannot be used: it is NULL'),
  ('', 'NX016 p_collection: collection '''' cannot be used: it is empty'),
  ('a b', 'NX016 p_collection: collection ''a b'' cannot be used: character '' '' is not allowed'),
  ('é', 'NX016 p_collection: collection ''é'' cannot be used: character ''é'' is not allowed'),
  ('.a', 'NX016 p_collection: collection ''.a'' cannot be used: it must begin with a letter or a digit'),
  ('a*', 'NX016 p_collection: collection ''a*'' cannot be used: character ''*'' is not allowed'),
  (E'a\n', E'NX016 p_collection: collection ''a\n'' cannot be used: character ''\n'' is not allowed'),
  (repeat('a', 101), 'NX016 p_collection: collection ' || quote_literal(repeat('a', 100)) || ' cannot be used: it has 101 bytes, at most 100 are allowed'),
  (repeat('a', 100), 'done'), ('A9._:/-z', 'done')) c (c, said);
select matches(pg_temp.said(call), '^NX016 p_key', 'so does ' || call) from unnest(array[
  $$core.kv_cas('shop', 'c', '', '1', 0)$$, $$core.kv_get('shop', 'c', '')$$, $$core.kv_delete('shop', 'c', '')$$]) call;
select matches(pg_temp.said(call), '^NX016 p_collection', 'so does ' || call) from unnest(array[
  $$core.kv_cas('shop', '', 'k', '1', 0)$$, $$core.kv_get('shop', '', 'k')$$, $$core.kv_delete('shop', '', 'k')$$, $$core.kv_list('shop', '')$$]) call;
select is(pg_temp.said(format('core.%s(%L, %L, %L, %s)', f.f, 'shop', 'c', 'k', f.v)), f.said, f.f || ' of ' || left(f.v, 30)) from (values
  ('kv_set', 'null', 'NX003 p_value: the value is SQL NULL'),
  ('kv_cas', 'null, 0', 'NX003 p_value: the value is SQL NULL'),
  ('kv_set', $$to_jsonb(repeat('x', 1999))$$, 'NX601 p_value: the value has 2001 bytes, at most 2000 are allowed'),
  ('kv_cas', $$to_jsonb(repeat('x', 1999)), 0$$, 'NX601 p_value: the value has 2001 bytes, at most 2000 are allowed'),
  ('kv_set', $$to_jsonb(repeat('x', 1998))$$, 'done'),
  ('kv_set', $$'1e400'$$, 'NX003 p_value: the value holds a number beyond 1e308'),
  ('kv_cas', $$'1', null$$, 'NX006 p_version: p_version cannot be NULL'),
  ('kv_cas', $$'1', -1$$, 'NX006 p_version: p_version cannot be -1'),
  ('kv_delete', '-1', 'NX006 p_version: p_version cannot be -1'),
  ('kv_set', $$'1', '{"if": true}'$$, 'NX004 if: there is no option ''if'''),
  ('kv_cas', $$'1', 0, '{"if_absent": true}'$$, 'NX004 if_absent: there is no option ''if_absent'''),
  ('kv_set', $$'1', null$$, 'NX005 p_options: p_options is not an object: NULL'),
  ('kv_set', $$'1', '{"if_absent": "true"}'$$, 'NX005 if_absent: if_absent cannot be "true"'),
  ('kv_set', $$'1', '{"if_present": null}'$$, 'NX005 if_present: if_present cannot be null'),
  ('kv_set', $$'1', '{"if_present": true, "if_absent": true}'$$, 'NX005 if_present: if_absent and if_present exclude each other')) f (f, v, said);
