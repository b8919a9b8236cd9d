-- A queue that was dropped behind Nexus's back is made again as at first, whatever of it is gone, and no id is given twice.
-- holds: NS1-lost-queues
select core.create_namespace('shop', '{"retry": {"max_attempts": 3}}'), core.create_namespace('whole');
create function pg_temp.refused(p_sql text, out code text, out message text, out field text, out hint text) language plpgsql as $$
begin
  execute p_sql;
exception when others then
  get stacked diagnostics code = returned_sqlstate, message = message_text, field = column_name, hint = pg_exception_hint;
end $$;
-- Names of indexes and of sequences, owners, rights, settings, policies and triggers of all that a queue consists of.
create function pg_temp.shape() returns setof text language sql as $$
  select format('%s %s %s %s %s %s %s', c.relname, c.relkind, c.relowner::regrole, c.reloptions, c.relrowsecurity, c.relpersistence,
                (select string_agg(a::text, ' ' order by a::text) from unnest(c.relacl) a))
    from pg_class c where c.relname ~ 'core_events_shop' and c.relnamespace = 'pgmq'::regnamespace
  union all
  select format('%s %s %s %s %s', p.polrelid::regclass, p.polname, p.polcmd, pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
    from pg_policy p where p.polrelid::regclass::text ~ 'core_events_shop'
  union all
  select format('%s %s %s', a.attrelid::regclass, a.attname, a.attidentity) from pg_attribute a where a.attrelid::regclass::text ~ 'pgmq.[qa]_core_events_shop' and a.attnum > 0
  union all
  select format('%s %s', t.tgrelid::regclass, t.tgname) from pg_trigger t where t.tgrelid::regclass::text ~ 'core_events_shop'
  union all
  select format('%s %s %s', m.queue_name, m.is_partitioned, m.is_unlogged) from pgmq.meta m where m.queue_name ~ 'core_events_shop' $$;
create temporary table wanted as select * from pg_temp.shape() s;
create function pg_temp.off() returns setof text language sql as $$
  (select 'lacks ' || w.s from (select s from wanted except select * from pg_temp.shape()) w) union all (select 'has ' || h.s from (select * from pg_temp.shape() s except select s from wanted) h) $$;
select is((select count(*)::int from core.lost_queues), 0, 'nothing is missing');

-- ids that something still refers to
select core.emit('shop', 'x') from generate_series(1, 3);
insert into core.parked (queue_name, event_type, msg_id, namespace, event_id, read_ct, enqueued_at, message, parked_at, lived)
values ('core_events_shop', 'p', 3000017, 'shop', null, 1, core.now(), '{"eventType": "p"}', core.now(), '0');
insert into core.delayed (due_at, queue_name, event_type, message, msg_id, read_ct, enqueued_at)
values (core.now() + interval '1 hour', 'core_events_shop', 'x', '{"eventType": "x"}', 4000000, 1, core.now());
insert into core.dead_letters (namespace, consumer, source_kind, source_ref, queue_name, msg_id, dlq_msg_id, payload, attempts, failed_at, reason)
values ('shop', 'default', 'delivery', '{}', 'core_events_shop', 7, 9000001, '1', 1, core.now(), 'r');

select pgmq.drop_queue('core_events_shop'), pgmq.drop_queue('core_events_shop_dlq');
select results_eq($$select namespace, queue_name, missing from core.lost_queues$$,
  $$values ('shop', 'core_events_shop', '{queue,archive,meta}'::text[]), ('shop', 'core_events_shop_dlq', '{queue,archive,meta}')$$, 'both are seen to be missing');
create temporary table r as select * from pg_temp.refused($$select core.emit('shop', 'x')$$);
select is((select code || ' ' || field || ' ' || message from r), $$NX110 p_namespace queue tables of namespace 'shop' are missing$$, 'emit says so');
select is((select hint from r), $$select core.create_namespace('shop'); or: nexus-node doctor --fix$$, 'and how it is mended');
select is((pg_temp.refused($$select core.create_namespace('shop', '{"retry": {"max_attempts": 4}}')$$)).code, 'NX201', 'with other options it is a conflict as before');
select ok(core.create_namespace('shop'), 'without options they are made again');
select is_empty('select pg_temp.off()', 'as they were');
select is_empty('select * from core.lost_queues', 'nothing is missing any more');
select is((select retry ->> 'max_attempts' from core.namespaces where namespace = 'shop'), '3', 'its options are as they were');
select ok(not core.create_namespace('shop'), 'and none again finds nothing to do');
select ok(not core.create_namespace('shop', '{"retry": {"max_attempts": 3}}'), 'the same are nothing new');
select is((select message_id from core.emit('shop', 'x')), 5000001::bigint, 'ids begin above all that are delayed, parked or linked, and beyond');
select is((select details from core.audit_log where action <> 'by hand'), '{"made_again": ["core_events_shop", "core_events_shop_dlq"]}', 'the trail has it');
select core_node.claim('core_events_shop', '{x}', '{0}', 1, '30 s');
select core_private.bury('core_events_shop', 'n', '{5000001}', '{1}', '{r}', '{e}');
select is((select max(dlq_msg_id) from core.dead_letters), 10000001::bigint, 'those of dead letters, too');

-- a part of it
create function pg_temp.part(p_harm text) returns text language plpgsql as $$
declare v_missing text;
begin
  execute p_harm;
  v_missing := (select string_agg(l.queue_name || ' ' || l.missing::text, ' ' order by l.queue_name) from core.lost_queues l);
  if not core.create_namespace('shop', '{"retry": {"max_attempts": 3}}') then return 'not made'; end if;
  if exists (select pg_temp.off()) then return (select string_agg(o, '; ') from pg_temp.off() o); end if;
  return v_missing;
end $$;
select core.emit('shop', 'kept');
select is(pg_temp.part($$delete from pgmq.meta where queue_name = 'core_events_shop'$$), 'core_events_shop {meta}', 'its row in pgmq.meta');
select is(pg_temp.part('drop table pgmq.a_core_events_shop'), 'core_events_shop {archive}', 'its archive');
select is((select message ->> 'eventType' from pgmq.q_core_events_shop), 'kept', 'what is on it stays');
select is((select message_id from core.emit('shop', 'x')), 5000003::bigint, 'and ids go on');
select is(pg_temp.part('drop table pgmq.q_core_events_shop_dlq'), 'core_events_shop_dlq {queue}', 'the table of the dead-letter queue');
select is(pg_temp.part('drop table pgmq.q_core_events_shop'), 'core_events_shop {queue}', 'its table, while pgmq knows it');
select is(pg_temp.part('drop table pgmq.q_core_events_shop, pgmq.a_core_events_shop'), 'core_events_shop {queue,archive}', 'its tables');
select ok((select message_id from core.emit('shop', 'x')) > 5000003, 'and no id comes back');

-- who has a restricted namespace keeps it to himself
create role t_mine in role nexus_operator; create role t_other in role nexus_operator;
grant usage on schema tap to public; grant execute on all functions in schema tap to public;
select core.alter_namespace('shop', '{"restricted": true}'), core.grant_namespace('shop', 't_mine', 'operate');
truncate wanted; insert into wanted select * from pg_temp.shape();
drop table pgmq.q_core_events_shop;
set local role t_other;
select is_empty('select * from core.lost_queues', 'others see nothing of it');
set local role t_mine;
select is((select queue_name from core.lost_queues), 'core_events_shop', 'who operates it does');
select throws_ok($$select core.create_namespace('shop')$$, 'NX401', null, 'and may not make it again, which is for administrators');
reset role;
select ok(core.create_namespace('shop'), 'they do');
select is_empty('select pg_temp.off()', 'with the rights of those who operate it');

-- what somebody else made in its place
drop table pgmq.q_core_events_shop;
create role t_builder;
create table pgmq.q_core_events_shop (msg_id bigint generated always as identity primary key, read_ct int not null default 0, enqueued_at timestamptz not null default now(), last_read_at timestamptz, vt timestamptz not null, message jsonb, headers jsonb);
drop table pgmq.a_core_events_shop;
alter table pgmq.q_core_events_shop owner to t_builder;
select is((pg_temp.refused($$select core.create_namespace('shop')$$)).code, 'NX202', 'a table that belongs to somebody else is not adopted');
