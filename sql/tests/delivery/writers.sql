-- E1: whatever writes deliveries, each consumer gets the same. All writers run against one table of consumers, in a namespace with the
-- consumer default and in one without, and each delivery on a queue and in core.delayed is compared.
-- holds: E1-all-writers
create function pg_temp.consumer(p_ns text, p_name text, p_patterns text[], p_state text) returns void language plpgsql as $$
declare v_id integer; v_queue text := 'core_events_' || p_ns || '__' || p_name;
begin
  insert into core.consumers (namespace, name, patterns, queue_name, state) values (p_ns, p_name, p_patterns, v_queue, p_state) returning consumer_id into v_id;
  insert into core.queues (queue_name, namespace, consumer_id) values (v_queue, p_ns, v_id);
  set local role nexus_owner;
  perform core_private.create_queue(v_queue);
  reset role;
end $$;
-- What lies on the queues of the namespace, or is delayed for them, by consumer: types, when they are due, the header h, and whether it is
-- no fresh delivery of an event of the log. Takes it away.
create function pg_temp.got(p_ns text) returns text language plpgsql as $$
declare r record; v_all text := ''; v_one text;
begin
  for r in select c.name, c.queue_name, core_private.queue_relation(c.queue_name) as relation from core.consumers c where c.namespace = p_ns order by c.name loop
    execute format($q$
      with q as (delete from %s returning *),
      d as (delete from core.delayed where queue_name = %L returning *),
      x as (select q.message, '' as place, coalesce(q.headers ->> 'h', '') as h,
                   q.read_ct = 0 and q.last_read_at is null and q.vt = core_private.now()
                     and (q.enqueued_at = q.vt or q.headers ? 'nexus-replay-of') as plain from q
             union all
            select d.message, '+' || extract(hour from d.due_at - core_private.now()) || 'h', coalesce(d.headers ->> 'h', ''),
                   d.event_type = d.message ->> 'eventType' and d.msg_id is null from d)
      select string_agg(x.message ->> 'eventType' || x.place || x.h
                        || case when x.plain then '' else ' changed' end
                        || case when e.event_type = x.message ->> 'eventType' then '' else ' unlogged' end, ' ' order by x.message ->> 'eventType', x.place)
        from x left join core.event_log e on e.event_uid::text = x.message ->> 'eventUid' and e.namespace = %L and e.event_id::text = x.message ->> 'eventId'
      $q$, r.relation, r.queue_name, p_ns) into v_one;
    if v_one is not null then
      v_all := v_all || r.name || ': ' || v_one || '; ';
    end if;
  end loop;
  return v_all;
end $$;
-- Each type that a consumer matches, with p_more behind it.
create function pg_temp.expected(p_ns text, p_more text = '') returns text language sql as $$
  select string_agg(w.consumer || ': ' || (select string_agg(t || p_more, ' ' order by t) from unnest(w.types) t) || '; ', '' order by w.consumer)
    from (values ('all', '{order.placed,order.paid,order:sent,orders}'::text[]), ('colon', '{order:sent}'), ('default', '{order.placed,order.paid,order:sent,orders}'),
                 ('exact', '{order.placed}'), ('paused', '{order.placed,order.paid}'), ('prefix', '{order.placed,order.paid}'), ('twice', '{order.placed,order.paid}')) w (consumer, types)
   where w.consumer <> 'default' or p_ns = 'shop' $$;
create function pg_temp.types() returns text[] language sql as $$ select '{order.placed,order.paid,order:sent,orders}'::text[] $$;

update nexus_test.clock set frozen = '2030-01-01 00:00:10Z';
select core.create_namespace('shop'), core.create_namespace('bare');
select pg_temp.consumer(ns, c.name, c.patterns, c.state)
  from unnest('{shop,bare}'::text[]) ns,
       (values ('all', '{*}'::text[], 'active'), ('colon', '{order:*}', 'active'), ('exact', '{order.placed}', 'active'), ('none', '{invoice.*,order}', 'active'),
               ('paused', '{order.*}', 'paused'), ('prefix', '{order.*}', 'active'), ('twice', '{order.paid,order.*,order.placed}', 'active')) c (name, patterns, state);
update core.namespaces set default_consumer = false where namespace = 'bare';

select core.emit(ns, t) from unnest('{shop,bare}'::text[]) ns, unnest(pg_temp.types()) t;
select is(pg_temp.got(ns), pg_temp.expected(ns), 'emit, ' || ns) from unnest('{shop,bare}'::text[]) ns;
select core.emit(ns, t, '{}', '{"headers": {"h": "!"}}') from unnest('{shop,bare}'::text[]) ns, unnest(pg_temp.types()) t;
select is(pg_temp.got(ns), pg_temp.expected(ns, '!'), 'with headers, ' || ns) from unnest('{shop,bare}'::text[]) ns;
select core.emit(ns, t, '{}', '{"delay": "1 h", "headers": {"h": "!"}}') from unnest('{shop,bare}'::text[]) ns, unnest(pg_temp.types()) t;
select is(pg_temp.got(ns), pg_temp.expected(ns, '+1h!'), 'delayed, ' || ns) from unnest('{shop,bare}'::text[]) ns;

select core.emit_batch(ns, pg_temp.types(), '{1,2,3,4}') from unnest('{shop,bare}'::text[]) ns;
select is(pg_temp.got(ns), pg_temp.expected(ns), 'emit_batch, ' || ns) from unnest('{shop,bare}'::text[]) ns;
select core.emit_batch(ns, array[t], '{1}') from unnest('{shop,bare}'::text[]) ns, unnest(pg_temp.types()) t;
select is(pg_temp.got(ns), pg_temp.expected(ns), 'of one each, ' || ns) from unnest('{shop,bare}'::text[]) ns;
select core.emit_batch(ns, pg_temp.types(), '{1,2,3,4}', array_fill('{"headers": {"h": "!"}}'::jsonb, '{4}')) from unnest('{shop,bare}'::text[]) ns;
select is(pg_temp.got(ns), pg_temp.expected(ns, '!'), 'with headers, ' || ns) from unnest('{shop,bare}'::text[]) ns;
select core.emit_batch(ns, pg_temp.types(), '{1,2,3,4}', array_fill('{"delay": "1 h", "headers": {"h": "!"}}'::jsonb, '{4}')) from unnest('{shop,bare}'::text[]) ns;
select is(pg_temp.got(ns), pg_temp.expected(ns, '+1h!'), 'delayed, ' || ns) from unnest('{shop,bare}'::text[]) ns;
select core.emit_batch('shop', '{order.placed,order.paid,orders}', '{1,2,3}', array['{"delay": "2 h"}', null, '{"delay": "1 h"}']::jsonb[]);
select is(pg_temp.got('shop'), 'all: order.paid order.placed+2h orders+1h; default: order.paid order.placed+2h orders+1h; exact: order.placed+2h; '
  'paused: order.paid order.placed+2h; prefix: order.paid order.placed+2h; twice: order.paid order.placed+2h; ', 'some at once, some delayed');
select core.emit_batch('shop', '{order.paid,order.placed}', '{1,2}', array_fill('{"dedupe_key": "k"}'::jsonb, '{2}'));
select is(pg_temp.got('shop'), 'all: order.paid; default: order.paid; paused: order.paid; prefix: order.paid; twice: order.paid; ', 'of one key the first');
select core.emit_batch('shop', '{invoices}', '{1}'), core.emit('shop', 'invoices');
select is(pg_temp.got('shop'), 'all: invoices invoices; default: invoices invoices; ', 'others get nothing');

select core.schedule_event(ns, t, '1', '2030-01-01 00:00:10Z') from unnest('{shop,bare}'::text[]) ns, unnest(pg_temp.types()) t;
select is(core.fire_due_events(), 8, 'events that were scheduled');
select is(pg_temp.got(ns), pg_temp.expected(ns), 'scheduled, ' || ns) from unnest('{shop,bare}'::text[]) ns;

select core.schedule_task(ns, t, '* * * * *', t, '{}', jsonb_build_object('overlap', case when t = 'orders' then 'allow' else 'skip' end)) from unnest('{shop,bare}'::text[]) ns, unnest(pg_temp.types()) t;
update nexus_test.clock set frozen = '2030-01-01 00:01:00Z';
select is(core_private.fire_tasks(100), 8, 'tasks');
select is((select string_agg(e.namespace || ' ' || d.queue_name || ' ' || e.event_type, ',' order by d.queue_name, e.event_type)
             from core_private.task_deliveries d join core.event_log e on e.event_id = d.event_id where d.queue_name in ('core_events_shop', 'core_events_bare', 'core_events_bare__exact', 'core_events_bare__prefix')),
  'bare core_events_bare__exact order.placed,bare core_events_bare__prefix order.paid,bare core_events_bare__prefix order.placed,'
  'shop core_events_shop order.paid,shop core_events_shop order.placed,shop core_events_shop order:sent', 'each delivery that a later slot waits for is known');
select is(pg_temp.got(ns), pg_temp.expected(ns), 'tasks, ' || ns) from unnest('{shop,bare}'::text[]) ns;
select core.run_task_now(ns, t) from unnest('{shop,bare}'::text[]) ns, unnest(pg_temp.types()) t;
select is(pg_temp.got(ns), pg_temp.expected(ns), 'run now, ' || ns) from unnest('{shop,bare}'::text[]) ns;
select core.backfill_task(task_id, '2029-12-31 23:00Z', '2029-12-31 23:01Z') from core.scheduled_tasks;
select is(pg_temp.got(ns), pg_temp.expected(ns), 'slots of before, ' || ns) from unnest('{shop,bare}'::text[]) ns;

-- What is replayed goes to the consumer that gave it up, and to no other.
select core.emit('shop', t) from unnest(pg_temp.types()) t;
do $$ declare r record; v_ids bigint[]; begin
  for r in select c.queue_name from core.consumers c where c.namespace = 'shop' loop
    execute format('select array_agg(msg_id) from %s', core_private.queue_relation(r.queue_name)) into v_ids;
    continue when v_ids is null;
    perform core_private.bury(r.queue_name, null, v_ids, array_fill(0, array[cardinality(v_ids)]), array_fill('rejected'::text, array[cardinality(v_ids)]),
                              array_fill(null::text, array[cardinality(v_ids)]));
  end loop;
end $$;
select is(pg_temp.got('shop'), '', 'given up by all');
select core.replay_dead_letters('{"namespace": "shop"}');
select is(pg_temp.got('shop'), pg_temp.expected('shop'), 'replayed');

-- Who asks later where an event is asks those that got it.
select core.emit(ns, 'order.placed', '"asked"') from unnest('{shop,bare}'::text[]) ns;
select is((select string_agg(s.consumer || ' ' || s.state, ',' order by s.consumer) from core.event_log e, core.event_status(e.event_id) s where e.namespace = ns and e.payload = '"asked"'),
  'all visible,' || case ns when 'shop' then 'default visible,' else '' end || 'exact visible,paused visible,prefix visible,twice visible', 'event_status, ' || ns)
  from unnest('{shop,bare}'::text[]) ns;
select is((select string_agg(e.namespace || ' ' || (e.metadata ? 'messageId'), ',' order by e.namespace) from core.event_log e where e.payload = '"asked"'), 'bare false,shop true', 'the log has the message id of the consumer default');
update core.namespaces set default_consumer = false where namespace = 'shop';
select is((select string_agg(s.consumer, ',' order by s.consumer) from core.event_log e, core.event_status(e.event_id) s where e.namespace = 'shop' and e.payload = '"asked"'),
  'all,default,exact,paused,prefix,twice', 'which had it, whatever became of that');
