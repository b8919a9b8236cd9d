-- A run of steps one after the other: started, claimed, committed, ended; with the fences in between.
-- holds: W1, W2, W5
select core.create_namespace('shop', '{"max_payload_bytes": 2000}');
create temporary table now_is (t timestamptz); insert into now_is values ('2030-01-01T00:00:00Z'); grant all on now_is to public;
create or replace function core_private.now() returns timestamptz language sql stable as $$ select t from pg_temp.now_is $$;
select throws_ok($$select core.start_workflow('shop', 'order')$$, 'NX116', null, 'no definition names it');
select is((select count(*) from core_private.workflow_runs), 0::bigint, 'and nothing was written');
select throws_ok($$select core_node.register_workflow('shop', 'order', 1, '[{"name": "a", "kind": "step"}, {"name": "p", "kind": "parallel", "steps": [{"name": "a", "kind": "step"}]}]')$$,
  'NX019', 'two steps of order are called a', 'a name twice');
create temporary table d as select core_node.register_workflow('shop', 'order', 1, '[{"name": "a", "kind": "step", "undo": "go"}, {"name": "b", "kind": "tx"}]') as def;
select is(core_node.register_workflow('shop', 'order', 1, '[{"name": "a", "kind": "step", "undo": "go"}, {"name": "b", "kind": "tx"}]'), (select def from d), 'the same again is the same');
select isnt(core_node.register_workflow('shop', 'order', 2, '[{"name": "a", "kind": "step"}]'), (select def from d), 'another one');
select core_node.register_workflow('shop', 'order', 1, '[{"name": "a", "kind": "step", "undo": "go"}, {"name": "b", "kind": "tx"}]');
update core_private.workflow_definitions set last_registered_at = last_registered_at - interval '1 s' where version = 2;
create temporary table r as select * from core.start_workflow('shop', 'order', '{"n": 1}', '{"idempotency_key": "k1", "tags": ["x"], "timeout": "1 h"}');
select is((select started from r), true, 'started');
select is((select uuid_send(run_id)::text ~ '^.x.{12}7' from r), true, 'its id is of version 7');
select is((select (s.run_id = r.run_id, s.started)::text from r, core.start_workflow('shop', 'order', '{"n": 1}', '{"idempotency_key": "k1"}') s), '(t,f)', 'the same key is the same run');
select throws_ok($$select core.start_workflow('shop', 'order', '{"n": 2}', '{"idempotency_key": "k1"}')$$, 'NX226', null, 'with another input');
create temporary table c as select * from core_node.claim_runs('shop', array[(select def from d)], 'n1', 10, '30 s');
select is((select row(path, epoch, pos, attempt, deaths, state, workflow, input, results, token is not null)::text from c),
  '("",1,0,0,0,run,order,"{""n"": 1}",{},t)', 'claimed');
select is((select count(*) from core_node.claim_runs('shop', array[(select def from d)], 'n2', 10, '30 s')), 0::bigint, 'by one');
create function pg_temp.commit(p_pos int, p_key text, p_op text = 'next', p_output text = null, p_token uuid = null, p_epoch int = null, p_result text = '1') returns text language sql as $$
  select outcome || coalesce(' ' || left(detail, 20), '') from c, core_node.commit_steps(array[c.run_id], array[c.path], array[coalesce(p_epoch, c.epoch)], array[coalesce(p_token, c.token)], array[p_pos], array[p_pos + 1],
    array[p_key], array[case when p_key is not null then format('{%s}', p_pos + 1) end], array[p_result], array['{"kind": "go"}'], array[p_op], array[p_output]) $$;
select is(pg_temp.commit(0, 'a', p_token => gen_random_uuid()), 'lost', 'another token');
select is(pg_temp.commit(0, 'a', p_epoch => 2), 'lost', 'another epoch');
select is(pg_temp.commit(1, 'a'), 'lost', 'another place');
select is(pg_temp.commit(0, 'a', p_result => '"' || repeat('x', 2100) || '"'), 'too_big the value has 2102 b', 'a result that is too big');
select is(pg_temp.commit(0, 'a', p_result => E'"\\u0000"'), 'too_big unsupported Unicode ', 'one that cannot be stored');
select is((select count(*) from core_private.workflow_journal), 0::bigint, 'and nothing was written');
select is(pg_temp.commit(0, 'a'), 'ok', 'committed');
select is(pg_temp.commit(0, 'a'), 'already', 'and again');
create function pg_temp.commit_one(p_pos int, p_key text, p_token uuid = null, p_result text = '1') returns text language sql as $$
  select concat_ws(' ', split_part(s, ': ', 1), nullif(left(split_part(s, ': ', 2), 20), '')) from c, core_node.commit_step(c.run_id, c.path, c.epoch, coalesce(p_token, c.token), p_pos, 1, p_key, array[p_pos + 1], p_result) s $$;
update core_private.workflow_cursors set pos = 0; delete from core_private.workflow_journal;
select is(pg_temp.commit_one(0, 'a', gen_random_uuid()), 'lost', 'alone: another token');
select is(pg_temp.commit_one(1, 'a'), 'lost', 'another place');
select is(pg_temp.commit_one(0, 'a', null, E'"\\u0000"'), 'too_big unsupported Unicode ', 'what cannot be stored');
select is(pg_temp.commit_one(0, 'a'), 'ok', 'committed');
select is(pg_temp.commit_one(0, 'a'), 'already', 'and again');
-- Who says wrongly that there is no row is refused: nothing is written over.
update core_private.workflow_cursors set pos = 0;
select throws_ok($$select core_node.commit_step(c.run_id, c.path, c.epoch, c.token, 0, 1, 'a', '{1}', '2', p_first => true) from c$$, '23505', null, 'a row that should not be there');
select is((select row(c.pos, j.result)::text from core_private.workflow_cursors c join core_private.workflow_journal j using (run_id)), '(0,1)', 'and nothing was done');
delete from core_private.workflow_journal;
select is((select core_node.commit_step(c.run_id, c.path, c.epoch, c.token, 0, 1, 'a', '{1}', '1', p_first => true) from c), 'ok', 'where there is none');
select is((select core_node.commit_step(c.run_id, c.path, c.epoch, c.token, 0, 1, 'a', '{1}', '1', p_first => true) from c), 'already', 'and again, after an answer that was lost');
select is(pg_temp.commit(1, 'b', 'end', '{"done": true}'), 'ok', 'the last step ends the run');
select is(pg_temp.commit(1, 'b', 'end', '{"done": true}'), 'already', 'and again');
select is((select row(status, result, finished_at is not null)::text from core_private.workflow_runs), '(completed,"{""done"": true}",t)', 'completed');
select is((select string_agg(format('%s %s %s %s', key, status, result, attempts), ', ' order by ord) from core_private.workflow_journal), 'a c 1 1, b c 1 1', 'the journal');
select is((select count(*) from core_private.workflow_cursors), 0::bigint, 'no cursor is left');
-- What goes by a glance and what is looked at closely, and a run that ends by its one step.
select is((select string_agg(core_private.is_plain_json(t, 20)::int::text, '' order by i) from unnest(array['1', '1e99', '1.5E+99', '"1e-400"', '1e400', '1E+309', '[1e0999]', E'"\\u0000"', repeat('9', 20), '"' || repeat('x', 19) || '"']) with ordinality x(t, i)),
  '1111000010', 'plain at a glance');
select is(core_private.is_plain_json(repeat('9', 30), 2000), false, 'many digits are no plain ones');
truncate r, c;
insert into r select * from core.start_workflow('shop', 'order');
insert into c select * from core_node.claim_runs('shop', array[(select def from d)], 'n1', 10, '30 s');
select is((select plain_bytes from core_private.workflow_cursors), 31, 'a claim says what is short here');
create function pg_temp.finish(p_pos int, p_key text, p_output text, p_token uuid = null, p_result text = '1') returns text language sql as $$
  select concat_ws(' ', split_part(s, ': ', 1), nullif(left(split_part(s, ': ', 2), 24), '')) from c, core_node.commit_step(c.run_id, c.path, c.epoch, coalesce(p_token, c.token), p_pos, 1, p_key, array[p_pos + 1], p_result, null, 'end', p_output) s $$;
select is(pg_temp.commit_one(0, 'a', null, '1e400'), 'too_big the value holds a nu', 'a number that is too big');
select is(pg_temp.commit_one(0, 'a', null, '[1e300,1e300,1e300,1e300,1e300,1e300,1e300,1e300]'), 'too_big the value has 2424 b', 'numbers that are long in the end');
select is(pg_temp.commit_one(0, 'a', null, '"' || repeat('x', 1998) || '"'), 'ok', 'just as long as may be');
select is(pg_temp.finish(1, 'b', '1', gen_random_uuid()), 'lost', 'an end by another token');
select is(pg_temp.finish(0, 'b', '1'), 'lost', 'at another place');
select is(pg_temp.finish(1, 'b', '1e400'), 'too_big the value holds a number', 'an output that is too big');
select is((select count(*) from core_private.workflow_cursors), 1::bigint, 'it has not ended');
select is(pg_temp.finish(1, 'b', '{"done": 1}'), 'ok', 'the end');
select is(pg_temp.finish(1, 'b', '{"done": 1}'), 'already', 'and again');
select is((select row(status, result, finished_at is not null)::text from core_private.workflow_runs join r using (run_id)), '(completed,"{""done"": 1}",t)', 'completed');
select is((select string_agg(format('%s %s', key, status), ', ' order by ord) from core_private.workflow_journal join r using (run_id)), 'a c, b c', 'its journal');
select is((select count(*) from core_private.workflow_cursors), 0::bigint, 'and no cursor is left');
-- Many at once: of a step that has failed there is a row, whatever the cursor says.
truncate c;
select core.start_workflow('shop', 'order'), core.start_workflow('shop', 'order'), core.start_workflow('shop', 'order');
insert into c select * from core_node.claim_runs('shop', array[(select def from d)], 'n1', 10, '30 s');
create function pg_temp.commit_all(p_pos int, p_key text, p_results text[] = '{1,1,1}') returns text language sql as $$
  with a as (select array_agg(run_id order by run_id) r, array_agg(path) p, array_agg(epoch) e, array_agg(token order by run_id) t from c)
  select string_agg(s.n || ' ' || s.outcome, ', ' order by s.n) from a, core_node.commit_steps(a.r, a.p, a.e, a.t, array_fill(p_pos, array[3]), array_fill(p_pos + 1, array[3]),
    array_fill(p_key, array[3]), array_fill(format('{%s}', p_pos + 1), array[3]), p_results, array_fill(null::text, array[3]), array_fill('next'::text, array[3]), array_fill(null::text, array[3])) s $$;
insert into core_private.workflow_journal (run_id, key, ord, status, attempts, error) select run_id, 'a', '{1}', 'f', 3, '{"reason": "bad"}' from c order by run_id limit 1;
select is(pg_temp.commit_all(0, 'a'), '1 ok, 2 ok, 3 ok', 'three in one');
select is((select string_agg(concat_ws(' ', status, attempts, result, error), ', ' order by run_id) from core_private.workflow_journal join c using (run_id)), 'c 4 1, c 1 1, c 1 1', 'one of them after failures');
select is(pg_temp.commit_all(0, 'a'), '1 already, 2 already, 3 already', 'and again');
update core_private.workflow_cursors set token = null where run_id = (select min(run_id::text)::uuid from c);
select is(pg_temp.commit_all(1, 'b', array['1', '"' || repeat('x', 2100) || '"', '"y"']), '1 lost, 2 too_big, 3 ok', 'each has its own outcome');
select is((select string_agg(k.pos::text, ' ' order by run_id) from core_private.workflow_cursors k join c using (run_id)), '1 1 2', 'and its own place');
