-- DL5: what is written to the ledger outside of the functions is recorded as that, whoever does it, and records stay
-- holds: DL5
select core.create_namespace('shop'), core.create_namespace('mall');
select core.emit_batch('shop', array_fill('a'::text, array[12]), array(select to_jsonb(g) from generate_series(1, 12) g)), core.emit('mall', 'a');
select core_node.claim('core_events_' || n, '{*}', '{0}', 12, '30 s') from unnest('{shop,mall}'::text[]) n;
select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', jsonb_agg(jsonb_build_object('id', msg_id, 'ct', read_ct, 'at', last_read_at, 'action', 'reject', 'reason', 'r', 'error', 'e') order by msg_id)) from pgmq.q_core_events_shop;
select core_node.settle('core_events_mall', 'n', '{}', '{}', '{}', jsonb_agg(jsonb_build_object('id', msg_id, 'ct', read_ct, 'at', last_read_at, 'action', 'reject', 'reason', 'r', 'error', 'e'))) from pgmq.q_core_events_mall;
create function pg_temp.by_hand() returns bigint language sql as $$ select count(*) from core.audit_log where action = 'by hand' $$;
create temporary table c as select * from core.claim_dead_letters('{"namespace": "shop", "limit": 3}');
select core.replay_dead_letter(1, '"new"', claim_token) from c where dead_letter_id = 1;
select core.reject_dead_letter(2, claim_token, 'no') from c where dead_letter_id = 2;
select core.extend_dead_letters('{3}', array[claim_token]) from c where dead_letter_id = 3;
select core.discard_dead_letter(2, 'x'), core.resolve_dead_letter(4, 'ignored', 'x');
select core.resolve_dead_letter(3, 'ignored', 'x', claim_token) from c where dead_letter_id = 3;
select core.replay_dead_letters('{"ids": [5]}'), core.expire_dead_letters('{"ids": [6]}', 'x'), core.cancel_deliveries('shop', array(select event_id from core.event_log where event_id < 3), 'x');
select core.alter_namespace('shop', '{"expire_unresolved": "1 h"}');
update nexus_test.clock set shift = '40 days';
select core.run_sweep('retention');
update nexus_test.clock set shift = '80 days';
select core.run_sweep('retention');
select is(pg_temp.by_hand(), 0::bigint, 'functions are no hands: ' || (select count(*) from core.dead_letters)) ;
select is((select details - '{first_ids}'::text[] from core.audit_log where action = 'discard_dead_letters'), '{"done": 1, "after": {"resolved": 1}, "before": {"pending": 1, "reprocessing": 0}, "resolution": "discarded"}', 'before and after of what functions do');
select is((select details -> 'before' from core.audit_log where action = 'resolve_dead_letters' and target = '3'), '{"pending": 0, "reprocessing": 1}', 'of what was claimed');
select is((select details - '{after}'::text[] from core.audit_log where action = 'replay_dead_letter'), format('{"before": {"status": "reprocessing", "claimed_by": "%s"}, "payload_before": 1, "payload_after": "new"}', session_user)::jsonb, 'of a replay, too');
select is((select details -> 'after' ->> 'resolution' from core.audit_log where action = 'replay_dead_letter'), 'replayed', 'what it became');
select ok((select bool_and(client_address is not distinct from inet_client_addr()) from core.audit_log), 'and from where');
select core.drop_namespace('mall', 'mall', true);
select is(pg_temp.by_hand(), 0::bigint, 'nor is a dropped namespace');
-- a superuser
insert into core.dead_letters (namespace, consumer, event_type, source_kind, source_ref, payload, attempts, failed_at, reason)
select 'shop', 'default', 'a', 'delivery', to_jsonb(g), to_jsonb(repeat('x', 2000)), 1, core.now(), 'r' from generate_series(101, 130) g;
select is((select concat_ws(' ', principal, namespace, target, details ->> 'table', details ->> 'operation', details ->> 'rows', jsonb_array_length(details -> 'first_ids'), (select count(*) from jsonb_object_keys(details -> 'after')), details -> 'before')
  from core.audit_log where action = 'by hand'), session_user || ' shop core.dead_letters insert 30 30 20 null', 'an insert');
select ok((select length(details -> 'after' -> (details -> 'first_ids' ->> 0) ->> 'payload') < 300 from core.audit_log where action = 'by hand'), 'what is long is cut');
create function pg_temp.last() returns text language sql as $$ select concat_ws(' ', principal, target, details ->> 'operation', details ->> 'rows', details ->> 'before', details ->> 'after') from core.audit_log where action = 'by hand' order by audit_id desc limit 1 $$;
create temporary table ids as select array_agg(dead_letter_id order by dead_letter_id) as a from core.dead_letters where reason = 'r' and source_kind = 'delivery' and resolved_at is null;
update core.dead_letters set reason = 'other' where dead_letter_id = (select a[1] from ids);
select is(pg_temp.last(), format('%s %s update 1 {"%2$s": {"reason": "r"}} {"%2$s": {"reason": "other"}}', session_user, a[1]), 'an update: what changed') from ids;
update core.dead_letters set reason = 'other' where false;
select is(pg_temp.by_hand(), 2::bigint, 'of nothing is nothing');
-- the owner
set local role nexus_owner;
update core.dead_letters set status = 'resolved', resolution = 'ignored', resolved_at = failed_at where dead_letter_id = (select min(dead_letter_id) from core.dead_letters where reason = 'other');
reset role;
select alike(pg_temp.last(), session_user || ' as nexus_owner % update 1 {%"status": "pending"%} {%"status": "resolved"%}', 'the owner');
-- in a function of somebody's, in another one's trigger, for replicas
create function pg_temp.own() returns void language sql security definer set search_path = pg_catalog, pg_temp as $$ update core.dead_letters set reason = 'x' where dead_letter_id = (select max(dead_letter_id) from core.dead_letters) $$;
select pg_temp.own();
do $$ begin update core.dead_letters set reason = 'y' where dead_letter_id = (select max(dead_letter_id) from core.dead_letters); end $$;
set local session_replication_role = replica;
update core.dead_letters set reason = 'z' where dead_letter_id = (select max(dead_letter_id) from core.dead_letters);
reset session_replication_role;
select is(pg_temp.by_hand(), 6::bigint, 'each of these');
delete from core.dead_letters where dead_letter_id >= (select a[29] from ids);
select is((select details ->> 'rows' || jsonb_typeof(details -> 'before') from core.audit_log where action = 'by hand' order by audit_id desc limit 1), '2object', 'a delete, with what was there');
select core.create_namespace('fair');
insert into core.dead_letters (namespace, source_kind, source_ref, payload, attempts, failed_at, reason) values ('fair', 'task', '1', '1', 1, core.now(), 'r');
delete from core.namespaces where namespace = 'fair';
select is((select namespace || ' ' || (details ->> 'operation') from core.audit_log where action = 'by hand' order by audit_id desc limit 1), 'fair delete', 'what goes with something else');
truncate core.dead_letters;
select ok((select (details ->> 'rows')::int >= 28 from core.audit_log where action = 'by hand' and details ->> 'operation' = 'truncate'), 'a truncate, with how many there were');
-- what is recorded stays
create function pg_temp.said(p_sql text) returns text language plpgsql as $$
declare v_hint text; begin execute p_sql; return 'ok'; exception when others then get stacked diagnostics v_hint = pg_exception_hint; return sqlstate || case when v_hint <> '' then '' else ' without a hint' end; end $$;
select is(pg_temp.said(q), 'NX403', q) from unnest(array['update core.audit_log set reason = null', 'delete from core.audit_log', 'truncate core.audit_log',
  'do $d$ begin delete from core.audit_log; end $d$', 'set session_replication_role = replica; delete from core.audit_log', 'set role nexus_owner; update core.audit_log set principal = ''x''', 'set role nexus_owner; truncate core.audit_log']) q;
reset role; reset session_replication_role;
update nexus_test.clock set shift = '79 days';
select is(core_private.apply_retention() -> 'audit_log', '0', 'nor does retention take it before its time');
update nexus_test.clock set shift = '900 days';
select core.run_sweep('retention');
select is((select count(*)::int from core.audit_log), 0, 'but after it');
