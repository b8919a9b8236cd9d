-- Broadcast: in another cluster nothing is lost and nothing repeated, and the cursor says so
-- holds: RS4 (broadcasts)
update nexus_test.clock set frozen = '2030-01-01 00:00Z';
select core.create_namespace('shop');
create function pg_temp.put(p_cluster bigint, p_xid text, p_type text) returns bigint language sql as $$
  insert into core.broadcasts (namespace, cluster, xid, event_id, event_uid, event_type, emitted_at, message)
  values ('shop', p_cluster, p_xid::xid8, 7, gen_random_uuid(), p_type, core.now(), jsonb_build_object('eventType', p_type)) returning broadcast_id $$;
create temp table me as select r.* from core_node.register_node('shop', 'n1', true, '{}', '{"broadcasts": ["a.*"]}') r;
create function pg_temp.claim(p_holder text = '1') returns table (outcome text, type text, attempt int, turn bigint, detail text) language sql as $$
  select c.outcome, c.message ->> 'eventType', c.attempt, c.turn, c.detail
    from me, core_node.claim_broadcast('n1', me.incarnation, rpad(p_holder, 32, '0')::uuid, '{a.*}', '{0}') c $$;
create function pg_temp.take(p_holder text = '1') returns text[] language plpgsql as $$
  declare v text[]; r record;
  begin
    loop
      select * into r from pg_temp.claim(p_holder) c where c.outcome <> 'reset';
      exit when not found;
      v := v || r.type; perform core_node.ack_broadcast('n1', rpad(p_holder, 32, '0')::uuid, r.turn);
    end loop;
    return v;
  end $$;
-- of another server, far ahead of this one: read to 1000000105 of what was visible at 1000000110, where 1000000103 was running
select pg_temp.put(42, x, t) from (values ('1000000099', 'a.seen'), ('1000000103', 'a.running'), ('1000000104', 'a.read'), ('1000000105', 'a.behind'), ('1000000106', 'a.target'), ('1000000107', 'c.other'), ('1000000120', 'a.after')) v (x, t);
update core_private.broadcast_cursors set cluster = 42, seen = '1000000100:1000000100:', target = '1000000103:1000000110:1000000103', at_xid = '1000000105',
  at_id = (select broadcast_id from core.broadcasts where event_type = 'a.behind'), holder = rpad('9', 32, '0')::uuid, taken_id = (select broadcast_id from core.broadcasts where event_type = 'a.target'), taken_xid = '1000000106', taken_at = core.now();
-- emitted here before the node came
select pg_temp.put(core_private.cluster_id(), '50', 'a.here');
select is((select array_agg(outcome) from pg_temp.claim('9')), '{reset,claimed}', 'the node is told');
select matches((select reset_reason from core.broadcast_cursors), '^came from server 42 to server [0-9]+; 3 unread broadcasts came along$', 'and it stays to be seen');
select is((select reset_at from core.broadcast_cursors), '2030-01-01 00:00Z', 'with its time');
select is(pg_temp.take('9'), '{a.running,a.target,a.after,a.here}', 'what it had not read, whatever it had in hand, and what came here; nothing twice');
select is((select count(*)::int from pg_temp.claim('9')), 0, 'no more');
-- a server that is behind this one
delete from core.broadcasts;
select pg_temp.put(43, x, t) from (values ('19', 'a.seen'), ('21', 'a.unread')) v (x, t);
update core_private.broadcast_cursors set cluster = 43, seen = '20:20:', target = null, at_xid = '0', at_id = 0;
select is(pg_temp.take('9'), '{a.unread}', 'whose ids are in the past here');
select matches((select reset_reason from core.broadcast_cursors), '^came from server 43 to server [0-9]+; 1 unread', 'is noted');
-- ids ahead of the server's, which is the same: a line that went on elsewhere
update core_private.broadcast_cursors set seen = '2000000000:2000000000:', reset_at = null, target = null;
select pg_temp.put(core_private.cluster_id(), '60', 'a.unsure');
select is((select array_agg(outcome) from pg_temp.claim('9')), '{reset}', 'the node is told of that, too');
select matches((select reset_reason from core.broadcast_cursors), '^was at transaction 2000000000, ahead of the server at [0-9]+; begins at the present$', 'and what was done');
select is((select array_agg(outcome) from pg_temp.claim('9')), null, 'once');
