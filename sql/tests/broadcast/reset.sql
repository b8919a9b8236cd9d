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
update core_private.broadcast_cursors set cluster = 42, top = (select broadcast_id from core.broadcasts where event_type = 'c.other'), seen = '1000000100:1000000100:', target = '1000000103:1000000110:1000000103', at_xid = '1000000105',
  at_id = (select broadcast_id from core.broadcasts where event_type = 'a.behind'), holder = rpad('9', 32, '0')::uuid, taken_id = (select broadcast_id from core.broadcasts where event_type = 'a.target'), taken_xid = '1000000106', taken_at = core.now();
-- emitted here before the node came
select pg_temp.put(core_private.cluster_id(), '50', 'a.here');
select is((select array_agg(outcome) from pg_temp.claim('9')), '{reset,claimed}', 'the node is told');
select matches((select reset_reason from core.broadcast_cursors), '^came from server 42 to server [0-9]+; 4 unread broadcasts are kept for it$', 'and it stays to be seen');
select is((select reset_at from core.broadcast_cursors), '2030-01-01 00:00Z', 'with its time');
select is(pg_temp.take('9'), '{a.running,a.target,a.after,a.here}', 'what it had not read, whatever it had in hand, and what came here; nothing twice');
select is((select count(*)::int from pg_temp.claim('9')), 0, 'no more');
-- a server that is behind this one
delete from core.broadcasts;
select pg_temp.put(43, x, t) from (values ('19', 'a.seen'), ('21', 'a.unread')) v (x, t);
update core_private.broadcast_cursors set cluster = 43, top = (select min(broadcast_id) from core.broadcasts), seen = '20:20:', target = null, at_xid = '0', at_id = 0;
select is(pg_temp.take('9'), '{a.unread}', 'whose ids are in the past here');
select matches((select reset_reason from core.broadcast_cursors), '^came from server 43 to server [0-9]+; 1 unread', 'is noted');
-- and back again: what is of here from before was read then
select pg_temp.put(core_private.cluster_id(), '60', 'a.before');
update core_private.broadcast_cursors set cluster = 44, seen = '10:10:', target = null, top = (select max(broadcast_id) from core.broadcasts);
select pg_temp.put(44, '70', 'a.there'), pg_temp.put(core_private.cluster_id(), '80', 'a.back');
select is(pg_temp.take('9'), '{a.there,a.back}', 'back on a server, what was read there before stays read');
-- A copy of this server, which has its identifier: its ids are ahead, and then they are passed.
create function pg_temp.copied(p_seen text, p_target text = null) returns void language sql as $$
  delete from core.broadcasts;
  select pg_temp.put(core_private.cluster_id(), x, t) from (values ('1999999990', 'a.seen'), ('1999999995', 'a.late'), ('2000000000', 'a.read')) v (x, t);
  update core_private.broadcast_cursors set seen = p_seen::pg_snapshot, target = p_target::pg_snapshot, at_xid = '0', at_id = 0, judged = 0, reset_at = null, top = (select max(broadcast_id) from core.broadcasts);
  select pg_temp.put(core_private.cluster_id(), x, t) from (values ('2000000001', 'a.came'), ('60', 'a.here')) v (x, t) $$;
select pg_temp.copied('1999999995:2000000001:1999999995');
delete from core.broadcasts where event_type = 'a.here';
select is(pg_temp.take('9'), '{a.late,a.came}', 'a copy: what was not read, whatever is emitted there');
select pg_temp.copied('1999999995:2000000001:1999999995');
select is(pg_temp.take('9'), '{a.late,a.came,a.here}', 'and what was');
select matches((select reset_reason from core.broadcast_cursors), '^came from a copy of this server, where it was at transaction 2000000001; 3 unread broadcasts are kept for it$', 'and what was done');
select is((select (reset_at, unread)::text from core.broadcast_cursors), format('("%s",0)', timestamptz '2030-01-01 00:00Z'), 'nothing is left');
select is((select array_agg(outcome) from pg_temp.claim('9')), null, 'once');
update core_private.broadcast_cursors set seen = pg_current_snapshot(), target = '3000000000:3000000000:';
select is((select array_agg(type) from pg_temp.claim('9')), null, 'nor when its ids are reached');
-- A node that was away meanwhile: the ids of its cursor are in the past, and so are those of what was emitted since.
select pg_temp.copied('50:100:50');
update core.broadcasts set xid = '45' where event_type in ('a.seen', 'a.read');
update core.broadcasts set xid = '50' where event_type = 'a.late';
update core.broadcasts set xid = '101' where event_type = 'a.came';
select is(pg_temp.take('9'), '{a.late,a.came,a.here}', 'a copy that has come further: the same');
select pg_temp.copied('50:100:50', '110:110:');
update core.broadcasts set xid = '45' where event_type in ('a.seen', 'a.read');
update core.broadcasts set xid = '50' where event_type = 'a.late';
update core.broadcasts set xid = '108' where event_type = 'a.came';
select is((select array_agg(type) from pg_temp.claim('9')), '{a.late}', 'while it reads, it comes to the end of that');
select core_node.ack_broadcast('n1', rpad('9', 32, '0')::uuid, (select turn from core_private.broadcast_cursors));
select is((select array_agg(outcome) from pg_temp.claim('9')), null, 'where it finds out');
select is(pg_temp.take('9'), '{a.came,a.here}', 'and nothing comes twice');
-- Whose transaction is running here, though it has ended where the cursor was.
select pg_temp.copied('50:50:');
update core_private.broadcast_cursors set top = 1000000000;
select is((select array_agg(core_private.is_foreign_cursor(c, core_private.cluster_id(), u.s)) from core_private.broadcast_cursors c cross join unnest('{60:80:60,40:80:40,40:80:60}'::pg_snapshot[]) u(s)), '{f,t,f}', 'an id in use that had ended');
