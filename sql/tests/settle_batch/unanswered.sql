-- D6, H3: reads that nobody answered are given back in express too, before an attempt fails there. Else they are given back later, and
-- the number of an attempt that failed comes again.
-- holds: D6
select core.create_namespace('shop', '{"retry": {"base": "0 s", "jitter": 0, "max_attempts": 3}}');
update nexus_test.clock set frozen = clock_timestamp();
select core.emit_batch('shop', array_fill('a'::text, array[5]), array_fill('1'::jsonb, array[5]));
create function pg_temp.express() returns table (msg_id bigint, read_ct integer, attempt integer) language sql as $$
    select c.msg_id, c.read_ct, core_private.attempt_of(c.read_ct, c.headers) + 1
      from core_node.claim_batch('core_events_shop', '{a}', '{3}', 10, p_key => 42, p_within => '50 s') c where c.outcome = 'claimed' $$;
create function pg_temp.settle(p_id bigint, p_action text, p_marker bigint = 1) returns text language sql as $$
    select string_agg(s.outcome, ' ') from pgmq.q_core_events_shop q cross join lateral core_node.settle_batch('core_events_shop', 'n1', p_marker, '{}', '{}', '{}', pg_temp.failed(array[q.msg_id], array[q.read_ct], array[q.last_read_at], array[p_action], '{0 s}', '{null}', '{x}', '{x}')) s where q.msg_id = p_id $$;
create function pg_temp.headers(p_id bigint) returns text language sql as $$
    select format('%s %s %s', read_ct, headers ->> 'nexus-deferrals', coalesce(headers ->> 'nexus-deaths', '0')) from pgmq.q_core_events_shop where msg_id = p_id $$;
create temporary table claimed as select * from core_node.claim('core_events_shop', '{a}', '{3}', 10, '30 s');

-- their process dies
update nexus_test.clock set shift = '31 s';
select is((select string_agg(format('%s/%s %s', msg_id, read_ct, attempt), ', ' order by msg_id) from pg_temp.express()), '1/1 1, 2/1 1, 3/1 1, 4/1 1, 5/1 1', 'all are at their first attempt still');
select is(pg_temp.settle(1, 'retry') || ' ' || pg_temp.headers(1), 'retried 2 1 0', 'one fails, and the read is given back');
select is(pg_temp.settle(2, 'release') || ' ' || pg_temp.headers(2), 'released 2 2 0', 'of one that is put off as well');
select is(pg_temp.settle(3, 'reject'), 'buried', 'one is given up');
select is((select attempts from core.dead_letters where msg_id = 3), 1, 'after one attempt');
select core_node.claim_these('core_events_shop', '{4}', '{1}', '30 s');
select is(pg_temp.headers(4), '2 1 0', 'and where the batch fails, under a lease');
select is(pg_temp.settle(4, 'retry', null), 'retried', 'it fails alone');

select is((select string_agg(format('%s/%s %s', msg_id, read_ct, attempt), ', ' order by msg_id) from pg_temp.express() where msg_id <> 5), '1/2 2, 2/2 1, 4/2 2', 'each at the attempt it stands at');
select is(pg_temp.settle(1, 'retry'), 'retried', 'a second failure is not the last of three');
select is((select string_agg(outcome || coalesce(' ' || msg_id, '') || '/' || read_ct, ', ' order by outcome, msg_id) from core_node.claim('core_events_shop', '{a}', '{3}', 10, '30 s', p_alone => false) where outcome <> 'window'),
          'alone 5/1, claimed 1/4, claimed 2/3, claimed 4/3', 'what was answered is no suspect');
select is((select core_private.attempt_of(read_ct, headers) from pgmq.q_core_events_shop where msg_id = 1), 3, 'under a lease it is at its third attempt');
select is(pg_temp.settle(1, 'retry', null), 'buried', 'which is the last');
select is((select array_agg(attempt order by attempt) from core.delivery_errors where msg_id = 1), array[1, 2, 3], 'each attempt failed once');

-- a death alone stays one
select core_node.claim('core_events_shop', '{a}', '{3}', 1, '30 s');
update nexus_test.clock set shift = '62 s';
select is((select attempt from pg_temp.express() where msg_id = 5), 2, 'who died alone has used up an attempt');
select is(pg_temp.settle(5, 'release') || ' ' || pg_temp.headers(5), 'released 3 2 1', 'also when it is put off');
select is((select attempt from pg_temp.express() where msg_id = 5), 2, 'it stays at that attempt');
select is(pg_temp.settle(5, 'retry'), 'retried', 'and fails');
select is((select attempt from core.delivery_errors where msg_id = 5), 2, 'at that');
select is((select attempt from pg_temp.express() where msg_id = 5), 3, 'the next is its last');
select is(pg_temp.settle(5, 'retry'), 'buried', 'and it is given up');
