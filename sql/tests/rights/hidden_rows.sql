-- I3: the rows of a restricted namespace are seen by nobody who has no grant, wherever they stand
-- holds: I3
select core.create_namespace('closed', '{"restricted": true}'), core.create_namespace('open');
select core_node.register_node(n, n || '1', true, '{a}', '{"broadcasts": ["a"]}') from unnest(array['closed', 'open']) n;
select core.emit_batch(n, '{a,a,a}', '{1,2,3}', array[null, null, '{"delay": "1 h"}']::jsonb[]) from unnest(array['closed', 'open']) n;
select core.emit(n, 'never', '4', '{"broadcast": true}') from unnest(array['closed', 'open']) n;
select core_node.claim('core_events_' || n, '{a}', '{0}', 1, '30 s') from unnest(array['closed', 'open']) n;
select core.schedule_event(n, 'a', '1', core.now()) from unnest(array['closed', 'open']) n;
select core.drain_node(n || '1') from unnest(array['closed', 'open']) n;
select core_private.bury('core_events_' || n, 'n', '{1}', '{1}', '{r}', '{e}') from unnest(array['closed', 'open']) n;
insert into core.parked (queue_name, event_type, msg_id, namespace, read_ct, enqueued_at, message, parked_at, lived)
select 'core_events_' || n, 'z', 9, n, 0, core.now(), '{}', core.now(), '0' from unnest(array['closed', 'open']) n;
select core.create_webhook(n, 'hook', 'https://a.example', '{never}'), core.create_ingress_token(n, 'web') from unnest(array['closed', 'open']) n;
select core.claim_dead_letters(jsonb_build_object('namespace', n)) from unnest(array['closed', 'open']) n;
update core.dead_letters set deadline = core.now(); -- it counts as pending, and is shown
select core.kv_set(n, 'c', 'k', to_jsonb(n)) from unnest(array['closed', 'open']) n;
select core.outbox_register_queue(n, 'jobs', 1), core.outbox_enqueue(n, 'jobs', 'x', 't', n) from unnest(array['closed', 'open']) n;
select core_private.make_lane_partitions(8);
update core_private.lane_partitions p set xid = '3', held_by = x.lane_id from (select l.lane_id, row_number() over (order by l.lane_id) as n from core_private.consumer_lanes l) x where p.upper = (select u.upper from core_private.lane_partitions u order by u.upper offset x.n - 1 limit 1);
update core_private.lanes l set ver = l.ver + 1, last_error = s.namespace from core.lane_status s where s.lane_id = l.lane_id;
insert into core.dead_letters (namespace, consumer, source_kind, source_ref, body, body_type, attempts, failed_at, reason) select n, 'jobs', 'lane', jsonb_build_object('queue', n), 'x', 't', 1, core.now(), 'r' from unnest(array['closed', 'open']) n;
select core_node.register_workflow(n, 'flow', 1, '[{"name": "a", "kind": "step"}]'), core.start_workflow(n, 'flow', to_jsonb(n)) from unnest(array['closed', 'open']) n;
insert into core_private.workflow_journal (run_id, key, ord, status) select run_id, namespace, '{1}', 'c' from core_private.workflow_runs;
select core.create_handler(n, 'go:mail') from unnest(array['closed', 'open']) n;
select core.alter_settings('{"max_trigger_depth": 9}'), core.grant_namespace('closed', 'nexus_admin', 'read');
select core.request(n, 'price') from unnest(array['closed', 'open']) n;
insert into core.abandoned_executions (inbox_id, namespace, target, status, why, created_at) select gen_random_uuid(), n, 'go:a', 200, 'not taken', core.now() from unnest(array['closed', 'open']) n;
select core.create_trigger(n, 'mail', '{"event": {"pattern": "never"}}', 'go:mail') from unnest(array['closed', 'open']) n;
select core.create_trigger(n, 'dead', '{"dead_letter": {"source": "task"}}', 'go:dead') from unnest(array['closed', 'open']) n;
select core.create_trigger(n, 'cron', '{"cron": {"cron_expression": "0 0 1 1 *"}}', 'go:cron') from unnest(array['closed', 'open']) n;
select core.create_trigger(n, 'http', '{"http": {"method": "GET", "path": "/", "public": true}}', 'go:mail') from unnest(array['closed', 'open']) n;
select core.create_trigger(n, 'keys', '{"kv": {"collection": "never"}}', 'go:mail') from unnest(array['closed', 'open']) n;
create table watched_closed (id integer primary key); create table watched_open (id integer primary key);
select core.watch_table(n, ('watched_' || n)::regclass, 'never') from unnest(array['closed', 'open']) n;
insert into core.trigger_drops (namespace, event_type, why, deliveries, dropped_at) select n, 'a', 'depth', 1, core.now() from unnest(array['closed', 'open']) n;
select core.replay_events(n, 'default', '{"type": "*"}', '{"replay_id": "r"}') from unnest(array['closed', 'open']) n;
select core.schedule_task(n, 't', '0 0 1 1 *', 'a') from unnest(array['closed', 'open']) n;
select (core.run_task_now(t.task_id)).event_id from core.scheduled_tasks t;
insert into core.task_slots (task_id, slot, namespace, status, recorded_at) select t.task_id, core.now(), t.namespace, 'skipped', core.now() from core.scheduled_tasks t;
do $$ begin
  if to_regclass('cron.job_run_details') is not null then
    insert into cron.job_run_details (jobid, runid, status, username) select t.job_id, 1000000 + row_number() over (), 'succeeded', 'nexus_scheduler' from core.scheduled_tasks t;
  end if;
end $$;
insert into core_private.sql_handlers (consumer_id, function, owner, created_by, created_at) select consumer_id, 'app.x(jsonb)', 'nexus_reader', 'x', core.now() from core.consumers;
drop table pgmq.a_core_events_closed, pgmq.a_core_events_open; -- for core.lost_queues
create role t_reader in role nexus_reader; create role t_operator in role nexus_operator;
select core.grant_namespace('closed', 't_reader', 'read');
select core.revoke_namespace('closed', 't_reader', 'read');
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
create function pg_temp.seen(p_relation text) returns text language plpgsql as $$
declare v_text text;
begin
  execute format('select coalesce(string_agg(r::text, chr(10)), '''') from %s r', p_relation) into v_text;
  return v_text;
exception when insufficient_privilege then
  return 'open'; -- nothing can be read at all
end $$;
create temporary table relations as
select format('core.%I', c.relname) as name from pg_class c
 where c.relnamespace = 'core'::regnamespace and c.relkind in ('r', 'p', 'v') and has_table_privilege('nexus_reader', c.oid, 'select')
   and not c.relispartition and c.relname not in ('blockers', 'error_codes', 'partitions', 'sweep_status', 'namespace_grants', 'namespaces', 'scheduler_status', 'settings');
select ok((select count(*) >= 8 from relations), 'there is something to look at');
grant all on all tables in schema pg_temp to public; grant all on all sequences in schema pg_temp to public;
set local role t_reader;
select unalike(pg_temp.seen(name), '%closed%', 'a reader sees nothing of it in ' || name) from relations;
select alike(pg_temp.seen(name), '%open%', 'but the open one in ' || name) from relations;
select is((select array_agg(namespace order by namespace) from core.namespaces)::text[], array['open'], 'core.namespaces');
select unalike(pg_temp.seen(q), '%closed%', 'nor in ' || q) from unnest(array['pgmq.q_core_events_closed', 'pgmq.q_core_events_closed_dlq']) q;
set local role t_operator;
select unalike(pg_temp.seen(q), '%closed%', 'an operator neither: ' || q) from unnest(array['pgmq.q_core_events_closed', 'pgmq.q_core_events_closed_dlq', 'core.unresolved_dead_letters', 'core.dead_letters']) q;
select throws_ok(format('select core.replay_dead_letter(%s)', (select min(dead_letter_id) from core.dead_letters) - 1), 'NX105', null, 'nor replays it');
select is((select (matched, done)::text from core.replay_dead_letters('{"type": "*"}')), '(2,2)', 'a filter matches only what may be operated');
select throws_ok($$select core.replay_dead_letters('{"namespace": "closed"}')$$, 'NX402', null, 'and says so when asked for it by name');
