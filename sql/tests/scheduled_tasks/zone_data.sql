-- S4: when the server's zone data changes, slots that were reckoned with the old rules are reckoned anew.
-- holds: S4-new-data
select core.create_namespace('shop');
update nexus_test.clock set frozen = '2026-12-01 12:00:30Z';
select core.schedule_task('shop', z, '0 5 * * *', 'x', '{}', jsonb_build_object('timezone', z)) from unnest(array['Europe/Berlin', 'Asia/Tokyo']) z;
-- as if Berlin's rules had been others: reckoned with an hour's difference, and remembered so
update core.scheduled_tasks set next_slot = next_slot + interval '1 hour', next_run_at = next_run_at + interval '1 hour';
select is((core_private.refresh_slots() ->> 'tasks')::int, 0, 'no rules have changed');
update core_private.timezones set changes = 'old' where name = 'Europe/Berlin';
select is((core_private.refresh_slots() ->> 'tasks')::int, 1, 'those of one zone have');
select results_eq($$select timezone, next_slot, next_run_at from core.scheduled_tasks order by 1$$,
  $$values ('Asia/Tokyo', '2026-12-01 21:00Z'::timestamptz, '2026-12-01 21:00Z'::timestamptz), ('Europe/Berlin', '2026-12-02 04:00Z', '2026-12-02 04:00Z')$$, 'only its tasks move');
