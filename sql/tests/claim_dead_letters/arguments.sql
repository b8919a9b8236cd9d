-- DL1: what is refused, and who is asked
-- holds: DL1 (rights, arguments)
select core.create_namespace('shop'), core.create_namespace('mall', '{"restricted": true}');
create function pg_temp.said(p_sql text) returns text language plpgsql as $$
declare v_column text;
begin execute p_sql; return 'ok'; exception when others then get stacked diagnostics v_column = column_name; return concat_ws(' ', sqlstate, nullif(v_column, '')); end $$;
insert into core.dead_letters (namespace, consumer, event_type, source_kind, source_ref, payload, attempts, failed_at, reason)
select n, 'default', 'a', 'delivery', to_jsonb(n || g), '1', 1, core.now(), 'r' from unnest('{shop,mall}'::text[]) n, generate_series(1, 3) g order by n desc, g;
select is(pg_temp.said(q), want, q) from (values
  ($$select core.claim_dead_letters('{}')$$, 'NX009 p_filter'), ($$select core.claim_dead_letters('{"namespace": "shop"}', null)$$, 'NX006 p_for'),
  ($$select core.claim_dead_letters('{"namespace": "shop"}', '0.9 s')$$, 'NX006 p_for'), ($$select core.claim_dead_letters('{"namespace": "shop"}', '25 h')$$, 'NX006 p_for'),
  ($$select core.claim_dead_letters('{"namespace": "nope"}')$$, 'NX101 namespace'), ($$select core.count_dead_letters('{}')$$, 'NX009 p_filter'),
  ($$select core.extend_dead_letters('{1}', '{}')$$, 'NX006 p_claim_tokens'), ($$select core.extend_dead_letters(null, null)$$, 'NX006 p_dead_letter_ids'),
  ($$select core.extend_dead_letters('{NULL}', array[gen_random_uuid()])$$, 'NX006 p_dead_letter_ids'), ($$select core.extend_dead_letters('{1}', '{NULL}')$$, 'NX006 p_claim_tokens'),
  ($$select core.extend_dead_letters('{1}', array[gen_random_uuid()], '2 days')$$, 'NX006 p_for'), ($$select core.reject_dead_letter(99, gen_random_uuid(), 'x')$$, 'NX105 p_dead_letter_id'),
  ($$select core.reject_dead_letter(1, gen_random_uuid(), 'x')$$, 'NX303 p_claim_token'), ($$select core.expire_dead_letters('{"namespace": "shop"}', ' ')$$, 'NX006 p_reason'),
  ($$select core.expire_dead_letters('{"limit": 1}', 'x')$$, 'NX009 p_filter')) v(q, want);
select is(core.count_dead_letters(f::jsonb), n::bigint, f) from (values ('{"namespace": "shop"}', 3), ('{"type": "*"}', 6), ('{"type": "*", "limit": 4}', 4), ('{"ids": [1, 6, 99]}', 2), ('{"reason": "s"}', 0), ('{"type": "*", "after_id": 5}', 1)) v(f, n);
create role t_claims_operator; grant nexus_operator to t_claims_operator;
create temporary table c as select * from core.claim_dead_letters('{"type": "*", "limit": 5}', '1 h');
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
grant all on all tables in schema pg_temp to public; grant all on all sequences in schema pg_temp to public;
set local role t_claims_operator;
select is(core.count_dead_letters('{"type": "*"}'), 3::bigint, 'a closed namespace is not counted');
select is((select array_agg(dead_letter_id) from core.claim_dead_letters('{"type": "*"}')), null, 'nor claimed');
select is(pg_temp.said(format($$select core.reject_dead_letter(4, %L, 'x')$$, claim_token)), 'NX105 p_dead_letter_id', 'nor given back') from c where dead_letter_id = 4;
select is((select array_agg(e.dead_letter_id) from core.extend_dead_letters((select array_agg(dead_letter_id) from c), (select array_agg(claim_token) from c)) e), '{4,5}', 'nor extended, and looks lost');
select is((select array_agg(dead_letter_id) from core.dead_letter_claims), '{1,2,3}', 'nor shown');
select is((select string_agg(r::text, ' ') from core.unresolved_counts r), '(shop,3,3)', 'in no view');
reset role;
create role t_claims_reader; grant nexus_reader to t_claims_reader;
set local role t_claims_reader;
select is(pg_temp.said(q), '42501', q) from unnest(array[$$select core.claim_dead_letters('{"namespace": "shop"}')$$, $$select core.count_dead_letters('{"namespace": "shop"}')$$]) q;
select is((select count(*)::int from core.dead_letter_claims), 3, 'a reader sees claims');
reset role;
