-- holds: LN1 (what is lost is counted)
-- A drop says what the queue has, to whom it is refused and, by the audit log, to whoever asks later.
select core.create_namespace('shop');
select core.outbox_register_queue('shop', q, 3) from unnest('{jobs,rest}'::text[]) q;
create function pg_temp.refused() returns text language plpgsql as $$
begin
  perform core.outbox_drop_queue('shop', 'jobs');
  return 'dropped';
exception when sqlstate 'NX213' then return sqlerrm;
end $$;
create function pg_temp.left(p_bound integer) returns text[] language sql as $$
  select core_private.outbox_left('shop', 'jobs', consumer_id, '{}', p_bound) from core.consumers where name = 'jobs' $$;
select core.outbox_enqueue('shop', 'rest', 'x', 't'), core.outbox_enqueue_batch('shop', 'jobs', array_fill('x'::bytea, '{7}'), array_fill('t'::text, '{7}'));
select is(pg_temp.refused(), 'outbox queue ''jobs'' of namespace ''shop'' still has messages that have not ended (7)', 'messages of all its lanes');
insert into core.dead_letters (namespace, source_kind, source_ref, consumer, body, body_type, attempts, failed_at, reason)
  select 'shop', 'lane', jsonb_build_object('n', n), q, 'x', 't', 1, core.now(), 'x' from unnest('{jobs,jobs,rest}'::text[]) with ordinality u(q, n);
select is(pg_temp.refused(), 'outbox queue ''jobs'' of namespace ''shop'' still has messages that have not ended (7), unresolved dead letters (2)', 'and dead letters');
select is(pg_temp.left(7)::text, '{"messages that have not ended (at least 7)","unresolved dead letters (2)"}', 'to a bound');
select is(pg_temp.left(2)::text, '{"messages that have not ended (at least 2)","unresolved dead letters (at least 2)"}', 'of each');
update core_private.lanes set cluster = 1;
select is(pg_temp.left(9)::text, '{"messages that have not ended (7)","unresolved dead letters (2)"}', 'of one that was restored, too');
select core.outbox_drop_queue('shop', 'jobs', true);
select is((select details -> 'left' from core.audit_log where action = 'outbox_drop_queue'), '["messages that have not ended (7)", "unresolved dead letters (2)"]', 'what went is in the audit log');
