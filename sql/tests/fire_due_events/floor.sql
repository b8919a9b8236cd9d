-- O7: claims begin at the floor, and once a minute one looks at everything
-- holds: O7
select core.create_namespace('shop');
create function pg_temp.late(p_due timestamptz) returns void language plpgsql as $$ -- written long ago by a transaction that has just committed
declare v_id uuid := core.schedule_event('shop', 'x', '1', p_due);
begin
  update core.scheduled_events set due_at = p_due where schedule_id = v_id;
end $$;
update nexus_test.clock set frozen = '2030-01-01 12:00:00Z';
select is(core.fire_due_events(), 0, 'the first claim looks at everything');
select is((select (floor, swept_at)::text from core_private.fire_floor), (row('2030-01-01 11:55:00Z'::timestamptz, '2030-01-01 12:00:00Z'::timestamptz))::text, 'the floor is five minutes ago');
select pg_temp.late('2030-01-01 11:56:00Z');
select is(core.fire_due_events(), 1, 'what commits within five minutes is found at once');
select pg_temp.late('2030-01-01 11:50:00Z');
update nexus_test.clock set frozen = '2030-01-01 12:00:59Z';
select is(core.fire_due_events(), 0, 'what commits later lies below the floor');
update nexus_test.clock set frozen = '2030-01-01 12:01:01Z';
select is(core.fire_due_events(), 1, 'and is found within a minute');
select is((select floor from core_private.fire_floor), '2030-01-01 11:56:01Z', 'the floor moves on');
select pg_temp.late('2030-01-01 11:00:00Z') from generate_series(1, 3);
update nexus_test.clock set frozen = '2030-01-01 12:03:00Z';
select is(core.fire_due_events(2), 2, 'more is due than was asked for');
select is((select floor from core_private.fire_floor), '2030-01-01 11:56:01Z', 'so the floor stays');
select is(core.fire_due_events(2), 1, 'and the rest is found next time');
select is((select floor from core_private.fire_floor), '2030-01-01 11:58:00Z', 'when it moves');
update nexus_test.clock set frozen = '2030-01-01 10:00:00Z';
select core.schedule_event('shop', 'x', '1', '2030-01-01 10:00:00Z');
select is(core.fire_due_events(), 1, 'a clock that was set back hides nothing');
select is((select floor from core_private.fire_floor), '2030-01-01 09:55:00Z', 'the floor goes back with it');
