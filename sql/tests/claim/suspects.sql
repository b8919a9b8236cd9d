-- C2: what may have killed a process goes alone, and only what died alone has an attempt counted
-- holds: D6
select core.create_namespace('shop');
select core.emit_batch('shop', array_fill('a'::text, array[5]), array_fill('1'::jsonb, array[5]));
create temporary table c (n int, outcome text, msg_id bigint, read_ct int, headers jsonb, last_read_at timestamptz);
create function pg_temp.take(p_n integer, p_alone boolean = true, p_max integer = 3, p_limit integer = 10) returns text language sql as $$
  insert into c select p_n, outcome, msg_id, read_ct, headers, last_read_at from core_node.claim('core_events_shop', '{a}', array[p_max], p_limit, '30 s', p_alone => p_alone) where outcome <> 'window';
  select coalesce(string_agg(format('%s %s/%s', outcome, msg_id, read_ct), ', ' order by outcome desc, msg_id), '') from c where n = p_n $$;
create function pg_temp.attempt(p_n integer, p_id bigint) returns integer language sql as $$
  select core_private.attempt_of(read_ct - 1, headers) + 1 from c where n = p_n and msg_id = p_id $$;
create function pg_temp.settle(p_n integer, p_id bigint, p_action text) returns text language sql as $$
  select coalesce(string_agg(s.outcome, ' '), 'acked') from c left join lateral core_node.settle('core_events_shop', 'n', case when p_action = 'ack' then array[c.msg_id] else '{}' end, case when p_action = 'ack' then array[c.read_ct] else '{}' end, case when p_action = 'ack' then array[c.last_read_at] else '{}' end, pg_temp.failed(case when p_action <> 'ack' then array[c.msg_id] else '{}' end, case when p_action <> 'ack' then array[c.read_ct] else '{}' end, case when p_action <> 'ack' then array[c.last_read_at] else '{}' end, case when p_action <> 'ack' then array[p_action] else '{}' end, case when p_action <> 'ack' then array[interval '0'] else '{}' end, case when p_action <> 'ack' then array[null::jsonb] else '{}' end, case when p_action <> 'ack' then '{x}'::text[] else '{}' end, case when p_action <> 'ack' then '{x}'::text[] else '{}' end)) s on true
   where c.n = p_n and c.msg_id = p_id $$;
select is(pg_temp.take(1), 'claimed 1/1, claimed 2/1, claimed 3/1, claimed 4/1, claimed 5/1', 'five together');
select is(pg_temp.settle(1, 5, 'retry'), 'retried', 'one of them is answered');

-- their process dies
update nexus_test.clock set shift = '31 s';
select core.emit('shop', 'a');
select is(pg_temp.take(2, false), 'claimed 5/2, claimed 6/1, alone 1/4', 'who has one in hand gets the others only, and is told how many wait and from where on');
select is(pg_temp.settle(2, 5, 'ack') || pg_temp.settle(2, 6, 'ack'), 'ackedacked', 'and goes on');
select core.emit('shop', 'a');
select is(pg_temp.take(3), 'claimed 1/2, claimed 7/1, alone 2/3', 'who has none gets one, beside what is not suspect');
select is((select format('%s %s %s', headers ->> 'nexus-alone', headers ->> 'nexus-deferrals', headers ->> 'nexus-deaths') from c where n = 3 and msg_id = 1), '2 1 0', 'it is marked, and given back what it died of in company');
select is(pg_temp.attempt(3, 1), 1, 'so it is at its first attempt still');
select is(pg_temp.settle(3, 1, 'retry') || pg_temp.settle(3, 7, 'ack'), 'retriedacked', 'it fails, and does not kill');
select is(pg_temp.take(4), 'claimed 1/3, claimed 2/2, alone 3/2', 'what was answered is no suspect');
select is(pg_temp.attempt(4, 1), 2, 'at its second attempt');
select is(pg_temp.settle(4, 1, 'ack'), 'acked', 'handled');

-- 2 kills
update nexus_test.clock set shift = '62 s';
select core.emit('shop', 'a');
select is(pg_temp.take(5, false), 'claimed 8/1, alone 2/3', 'others go on');
select is(pg_temp.take(6), 'claimed 2/3, alone 3/2', 'the killer once more');
select is(pg_temp.attempt(6, 2), 2, 'at its second attempt');
update nexus_test.clock set shift = '93 s';
select is(pg_temp.take(7), 'claimed 2/4, alone 3/3', 'its third death; another one died beside it');
select is((select headers ->> 'nexus-deaths' from c where n = 7 and msg_id = 2), '2', 'two were counted');
update nexus_test.clock set shift = '124 s';
select is(pg_temp.take(8), 'claimed 3/2, buried 2/4, alone 4/2', 'is one too many');
select is((select format('%s %s', reason, attempts) from core.dead_letters), 'not acknowledged (process lost) 3', 'after three deaths alone');
select is(pg_temp.settle(8, 3, 'release'), 'released', 'an innocent one may be put off');
select is(pg_temp.take(9, false), 'claimed 3/3, alone 4/2', 'and is no suspect then');
select is(pg_temp.attempt(9, 3), 1, 'at its first attempt');
select is(pg_temp.settle(9, 3, 'ack'), 'acked', 'handled');
select is(pg_temp.take(10), 'claimed 4/2, alone 8/1', 'the next');
select is(pg_temp.attempt(10, 4), 1, 'at its first attempt too');
select is(pg_temp.settle(10, 4, 'ack'), 'acked', 'handled');
select is(pg_temp.take(11, true, 1), 'buried 8/1', 'one attempt means at most once, in any company');
select is((select array_agg(msg_id || ' ' || attempts order by msg_id) from core.dead_letters), array['2 3', '8 1'], 'nobody else is given up');

-- who was answered after a death is no suspect any more, and its death stays counted
select core.emit('shop', 'a');
select pg_temp.take(20);
update nexus_test.clock set shift = '155 s';
select is(pg_temp.take(21), 'claimed 9/2', 'alone');
update nexus_test.clock set shift = '186 s';
select is(pg_temp.take(22), 'claimed 9/3', 'again, after a death');
select is(pg_temp.settle(22, 9, 'release'), 'released', 'answered');
select is(pg_temp.take(23, false), 'claimed 9/4', 'in company');
select is(pg_temp.attempt(23, 9), 2, 'the death is counted still');
select is(pg_temp.settle(23, 9, 'ack'), 'acked', 'handled');

-- a crowd of them
select core.emit_batch('shop', array_fill('a'::text, array[300]), array_fill('1'::jsonb, array[300]));
select core_node.claim('core_events_shop', '{a}', '{3}', 300, '30 s', p_window => 300);
update nexus_test.clock set shift = '250 s';
create temporary table w as select * from core_node.claim('core_events_shop', '{a}', '{3}', 50, '30 s', p_window => 300);
select is((select string_agg(outcome || read_ct, ' ' order by outcome) from w where outcome <> 'claimed'), 'alone49 window300', 'a wide window looks at all and locks what it could take');
select is((select count(*)::int from w where outcome = 'claimed'), 1, 'one is taken');

-- within the limit
delete from pgmq.q_core_events_shop;
select core.emit_batch('shop', array_fill('a'::text, array[4]), array_fill('1'::jsonb, array[4]));
select core_node.claim('core_events_shop', '{a}', '{3}', 1, '30 s');
update nexus_test.clock set shift = '300 s';
select is((select count(*)::int from core_node.claim('core_events_shop', '{a}', '{3}', 2, '30 s', p_window => 4) where outcome = 'claimed'), 2, 'the one that goes alone is one of those asked for');

-- what headers say is not believed
delete from pgmq.q_core_events_shop;
select pgmq.send('core_events_shop'::text, '{"eventType": "a"}'::jsonb, h::jsonb) from unnest(array['{"nexus-alone": 1}', '{"nexus-alone": "x", "nexus-deaths": 9999999999999999}', '{"nexus-deaths": 3, "nexus-failures": 3}', '[1]', 'null']) h;
create function pg_temp.deaths() returns integer language plpgsql as $$
declare v_n integer := 0; begin
  while exists (select from pgmq.q_core_events_shop) loop
    v_n := v_n + 1;
    update nexus_test.clock set shift = make_interval(secs => 400 + 31 * v_n);
    perform core_node.claim('core_events_shop', '{a}', '{3}', 10, '30 s');
    exit when v_n > 60;
  end loop;
  return v_n; end $$;
select ok(pg_temp.deaths() < 60, 'none lives for ever');
