-- DL1: who may move what, and when
-- holds: DL1 (moves, tokens, deadlines)
select core.create_namespace('shop');
select core.emit_batch('shop', array_fill('a'::text, array[12]), array(select to_jsonb(g) from generate_series(1, 12) g));
select core_node.claim('core_events_shop', '{*}', '{0}', 12, '30 s');
select core_private.bury('core_events_shop', 'n', array(select generate_series(1, 12)), array_fill(1, array[12]), array_fill('r'::text, array[12]), array_fill('e'::text, array[12]));
create function pg_temp.said(p_sql text) returns text language plpgsql as $$
begin execute p_sql; return 'ok'; exception when others then return sqlstate; end $$;
update nexus_test.clock set shift = '0', frozen = '2030-01-01Z';
create temporary table c as select * from core.claim_dead_letters('{"namespace": "shop", "limit": 8}', '1 min');
select is((select string_agg(concat_ws(' ', dead_letter_id, payload, attempts, last_error), ', ' order by dead_letter_id) from c), '1 1 1 e, 2 2 1 e, 3 3 1 e, 4 4 1 e, 5 5 1 e, 6 6 1 e, 7 7 1 e, 8 8 1 e', 'the oldest, with what a handler needs');
create function pg_temp.token(p_id bigint) returns uuid language sql as $$ select claim_token from c where dead_letter_id = p_id $$;
select ok(bool_and(envelope ->> 'eventType' = 'a' and deadline = core.now() + interval '1 min'), 'envelope and deadline') from c;
select is((select count(distinct claim_token)::int from c), 8, 'a token each');
select is((select array_agg(dead_letter_id order by dead_letter_id) from core.claim_dead_letters('{"ids": [7, 8, 9]}')), '{9}', 'what somebody holds is passed over');
select is((select string_agg(concat_ws(' ', dead_letter_id, expired, claimed_by = session_user), ', ' order by dead_letter_id) from core.dead_letter_claims where dead_letter_id > 7), '8 f t, 9 f t', 'who holds what');
select is((select r::text from core.unresolved_counts r), '(shop,12,9)', 'claimed ones are unresolved');
select is(core.count_dead_letters('{"namespace": "shop"}'), 12::bigint, 'and are counted');
-- without a token nobody moves what is held
select is(pg_temp.said(q), 'NX217', q) from unnest(array[
  'select core.replay_dead_letter(1)', $$select core.discard_dead_letter(1, 'x')$$, $$select core.resolve_dead_letter(1, 'ignored', 'x')$$]) q;
select throws_like('select core.replay_dead_letter(1)', 'dead letter 1 is claimed by %', 'by whom');
select is(matched, 0, what || ' by filter passes over it') from (
  select 'replay', r.matched from core.replay_dead_letters('{"ids": [1]}') r union all select 'discard', r.matched from core.discard_dead_letters('{"ids": [1]}', 'x') r union all
  select 'resolve', r.matched from core.resolve_dead_letters('{"ids": [1]}', 'ignored', 'x') r union all select 'expire', r.matched from core.expire_dead_letters('{"ids": [1]}', 'x') r) v(what, matched);
select is((select count(*)::int from core.preview_dead_letters('{"ids": [1]}')), 0, 'so does a preview');
-- with a token that is not the one
select is(pg_temp.said(format(q, gen_random_uuid())), 'NX303', q) from unnest(array[
  'select core.replay_dead_letter(1, null, %L)', $$select core.discard_dead_letter(1, 'x', %L)$$, $$select core.resolve_dead_letter(1, 'ignored', 'x', %L)$$, $$select core.reject_dead_letter(1, %L, 'x')$$,
  $$select core.discard_dead_letter(12, 'x', %L)$$]) q;
select is(pg_temp.said(format($$select core.discard_dead_letter(1, 'x', %L)$$, claim_token)), 'NX303', 'what readers see of a token is none') from core.dead_letters where dead_letter_id = 1;
select is((select array_agg(e.dead_letter_id) from core.extend_dead_letters('{1}', array(select claim_token from core.dead_letters where dead_letter_id = 1)) e), '{1}', 'nor does it extend the claim');
select is((select count(*)::int from core.dead_letters l, c where strpos(to_jsonb(l)::text, c.claim_token::text) > 0), 0, 'the token itself stands nowhere');
select is(pg_temp.said($$select core.reject_dead_letter(1, null, 'x')$$), 'NX006', 'to give back takes a token');
select is(pg_temp.said(format($$select core.reject_dead_letter(1, %L, ' ')$$, pg_temp.token(1))), 'NX006', 'and an error');
-- the holder, in time
select is(pg_temp.said(format(q, pg_temp.token(n))), 'ok', q) from unnest(array[
  'select core.replay_dead_letter(1, ''"mended"'', %L)', $$select core.discard_dead_letter(2, 'x', %L)$$, $$select core.resolve_dead_letter(3, 'handled_by_script', 'x', %L)$$, $$select core.reject_dead_letter(4, %L, 'no again')$$]) with ordinality v(q, n);
select is((select string_agg(concat_ws(' ', dead_letter_id, status, resolution, attempts, last_error, num_nonnulls(claim_token, deadline, claimed_by)), ', ' order by dead_letter_id) from core.dead_letters where dead_letter_id < 5),
  '1 resolved replayed 1 e 0, 2 resolved discarded 1 e 0, 3 resolved handled_by_handler 1 e 0, 4 pending 2 no again 0', 'where they are then');
select is((select last_attempt_at from core.dead_letters where dead_letter_id = 4), core.now(), 'a reject is an attempt');
select is((select message ->> 'payload' from pgmq.q_core_events_shop), 'mended', 'the payload that was replayed');
select is((select payload from core.dead_letters where dead_letter_id = 1), '1', 'the original is kept');
select is(pg_temp.said(format(q, c.claim_token)), 'NX205', q) from unnest(array['select core.replay_dead_letter(1, null, %L)', $$select core.discard_dead_letter(1, 'x', %L)$$, $$select core.reject_dead_letter(1, %L, 'x')$$]) q, c where dead_letter_id = 1;
-- more time
update nexus_test.clock set frozen = '2030-01-01 00:00:59Z';
select is((select array_agg(e.dead_letter_id) from core.extend_dead_letters('{5,6,1,99}', array[pg_temp.token(5), gen_random_uuid(), gen_random_uuid(), gen_random_uuid()], '2 min') e), '{1,6,99}', 'what is lost is told');
select is((select string_agg(dead_letter_id || ' ' || deadline - core.now(), ', ' order by dead_letter_id) from core.dead_letters where dead_letter_id in (5, 6)), '5 00:02:00, 6 00:00:01', 'the others have more time');
-- at the deadline it is over
update nexus_test.clock set frozen = '2030-01-01 00:01:00Z';
select is(pg_temp.said(format(q, pg_temp.token(6))), 'NX303', q) from unnest(array[
  'select core.replay_dead_letter(6, null, %L)', $$select core.discard_dead_letter(6, 'x', %L)$$, $$select core.resolve_dead_letter(6, 'ignored', 'x', %L)$$, $$select core.reject_dead_letter(6, %L, 'x')$$]) q;
select is((select array_agg(e.dead_letter_id) from core.extend_dead_letters('{6}', array[pg_temp.token(6)]) e), '{6}', 'nor is it extended');
select is((select string_agg(dead_letter_id || ' ' || expired, ', ' order by dead_letter_id) from core.dead_letter_claims where dead_letter_id < 8), '5 false, 6 true, 7 true', 'it is shown as expired');
select is((select unresolved || ' ' || claimed from core.unresolved_counts), '9 2', 'and not counted as claimed');
select is((select count from core.preview_dead_letters('{"ids": [6]}')), 1::bigint, 'it counts as pending');
create temporary table again as select * from core.claim_dead_letters('{"ids": [6]}', '1 min');
select is((select again.claim_token <> c.claim_token from again join c using (dead_letter_id)), true, 'who claims it anew has a token of his own');
select is(pg_temp.said(format($$select core.discard_dead_letter(6, 'x', %L)$$, c.claim_token)), 'NX303', 'the old one is worth nothing') from c where dead_letter_id = 6;
select is(pg_temp.said(q), 'ok', q) from unnest(array['select core.replay_dead_letter(7)', $$select core.discard_dead_letter(8, 'x')$$]) q;
select is((select r::text from core.expire_dead_letters('{"ids": [9, 10]}', 'too late') r), '(1,1,0)', 'one that is held is passed over, by expire too');
update nexus_test.clock set frozen = '2030-01-02Z';
select is((select r::text from core.expire_dead_letters('{"ids": [9]}', 'too late') r), '(1,1,0)', 'and taken when its time is over');
select is((select string_agg(concat_ws(' ', dead_letter_id, resolution, resolved_reason, claim_token, claimed_by), ', ' order by dead_letter_id) from core.dead_letters where dead_letter_id in (9, 10)), '9 expired too late, 10 expired too late', 'expired');
select is((select done from core.replay_dead_letters('{"ids": [5, 6, 11]}')), 3, 'a replay by filter takes what has expired');
select is((select string_agg(action || ' ' || (details ->> 'resolution'), ', ') from core.audit_log where action like 'expire%'), 'expire_dead_letters expired, expire_dead_letters expired', 'what resolves is recorded');
select is((select count(*)::int from core.audit_log where action like 'claim%' or action like 'extend%' or action like 'reject%'), 0, 'claims are not');
select is((select count(*)::int from pgmq.q_core_events_shop_dlq), (select count(*)::int from core.dead_letters where resolved_at is null), 'a copy of each that is unresolved');
