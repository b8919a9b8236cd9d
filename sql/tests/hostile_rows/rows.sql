-- Whatever is put on a queue by hand is handled, shown or skipped row by row, and stops nothing else.
-- holds: P1-hostile
select core.create_namespace('shop');
select core_node.register_node('shop', 'n1', true, '{x}');
create temporary table odd (n int, read_ct int, enqueued_at timestamptz, last_read_at timestamptz, vt timestamptz, message jsonb, headers jsonb);
insert into odd
select row_number() over ()::int, r.ct, e.at, l.at, v.at, m.m, h.h
  from (values (0), (1), (2147480000), (2147483646), (2147483647), (-2147483648), (-1)) r (ct),
       (values ('infinity'::timestamptz), ('-infinity'), ('200000-01-01 UTC'), ('4714-11-25 00:00:00+00 BC'), ('2026-01-01 UTC')) e (at),
       (values (null::timestamptz), ('infinity'), ('4714-11-25 00:00:00+00 BC')) l (at),
       (values ('infinity'::timestamptz), ('-infinity'), ('294276-12-31 UTC'), ('4714-11-25 00:00:00+00 BC')) v (at),
       (values ('{"eventType": "x", "eventId": 99999999999999999999, "eventUid": "no", "emittedAt": "never"}'::jsonb), (null), ('[]'),
               ('{"eventType": "y", "eventId": "1e400", "emittedAt": 1e300, "depth": {}}')) m (m),
       (values (null::jsonb), ('[1]'), ('"x"'), ('{"nexus-due": "soon", "nexus-deferrals": "9999999999999999", "nexus-failures": -1, "nexus-first-at": 9999999999999999}'),
               ('{"nexus-due": {}, "nexus-deferrals": 1e999, "nexus-failures": "x", "nexus-first-at": []}')) h (h);
insert into pgmq.q_core_events_shop (read_ct, enqueued_at, last_read_at, vt, message, headers) select read_ct, enqueued_at, last_read_at, vt, message, headers from odd;
create temporary table told as select count(*) as n from odd;
select core.emit('shop', 'x', '"good"');
create temporary table live as select (select count(*) from pgmq.q_core_events_shop) as n;

select is((select queue_length from core.queue_metrics where queue_name = 'core_events_shop'), n, 'metrics count all') from live;
select is((select visible + in_flight + waiting from core.queue_metrics where queue_name = 'core_events_shop'), n, 'in one state each') from live;
select is((select count(*)::int from core.queue_metrics), 2, 'and both queues');
update pgmq.q_core_events_shop set enqueued_at = 'infinity' where msg_id = 1;
select is((select oldest_msg_age_seconds from core.queue_metrics where queue_name = 'core_events_shop'), null, 'what was never put there has no age');
select ok(core_node.metrics_sample('shop') -> 'queues' -> 0 ->> 'visible' is not null, 'so does the sample of nodes');
select is((select count(*)::int from core.peek('core_events_shop', 1000)), 1000, 'peek shows them');
select lives_ok('select core_private.set_aside()', 'they are set aside, or left');
select lives_ok('select core_private.park_unhandled()', 'parked, or left');
select lives_ok('select * from core.unhandled_types', 'listed');
select lives_ok('select core_node.promote_delayed(10000)', 'promoted');
select lives_ok($$select core.event_status(1)$$, 'looked up');
select lives_ok($$select core.event_status(1, true)$$, 'thoroughly');

-- Claimed and settled in all ways, until nothing is due that somebody handles.
create function pg_temp.work() returns int language plpgsql as $$
declare v_n int; v_all int := 0;
begin
    for i in 1..40 loop
        with c as materialized (select c.msg_id, c.read_ct, c.last_read_at from core_node.claim('core_events_shop', '{x}', '{3}', 100, '1 min', p_sweep => i % 2 = 0) c where c.outcome = 'claimed'),
        s as materialized (
            select s.* from (select array_agg(msg_id) as ids, array_agg(read_ct) as cts, array_agg(last_read_at) as ats, count(*)::int as n from c) f,
            lateral core_node.settle('core_events_shop', 'n1', '{}', '{}', '{}', pg_temp.failed(f.ids, f.cts, f.ats, (select array_agg((array['retry', 'reject', 'release'])[1 + u % 3]) from generate_series(1, f.n) u), array_fill('0'::interval, array[f.n]), array_fill(null::jsonb, array[f.n]), array_fill('r'::text, array[f.n]), array_fill('e'::text, array[f.n]))) s)
        select count(*) into v_n from s;
        v_all := v_all + v_n;
    end loop;
    return v_all;
end $$;
select cmp_ok(pg_temp.work(), '>', 100, 'they are claimed and settled');
select lives_ok($$select core_node.claim_batch('core_events_shop', '{x}', '{3}', 1000, p_lease => '1 min')$$, 'in batches, too');
select lives_ok($$select core_node.claim_batch('core_events_shop', '{x}', '{3}', 1000, p_key => 1, p_within => '1 min')$$, 'and in express');
select lives_ok($$select core_node.extend('core_events_shop', array(select msg_id from pgmq.q_core_events_shop where read_ct > 0), array(select read_ct from pgmq.q_core_events_shop where read_ct > 0), array(select last_read_at from pgmq.q_core_events_shop where read_ct > 0), '1 min')$$, 'extended');
update nexus_test.clock set shift = '40 days';
select core.touch_node_heartbeat('n1');
select is((select string_agg(e ->> 'sweep' || ' ' || (e ->> 'error'), ', ') from jsonb_array_elements(core.tick() -> 'ran') e where e ? 'error' and e ->> 'sweep' <> 'partitions'), null, 'no sweep fails');
select lives_ok($$select core.replay_dead_letters('{"namespace": "shop"}')$$, 'those that were buried are replayed');
select lives_ok('select * from core.dead_letter_groups', 'and grouped');
select cmp_ok((select count(*)::int from core.purge_queue('core_events_shop', 'core_events_shop')), '=', 1, 'purged');
