-- overdue means trouble: not what pg_cron has not called since its last minute, nor what is switched off or was installed just now.
update nexus_test.clock set frozen = clock_timestamp();
update core_private.sweeps set last_ok_at = null, registered_at = core.now();
select is((select count(*)::int from core.sweep_status where overdue), 0, 'installed just now, none has run');
update core_private.sweeps set last_ok_at = core.now() - interval '61 s' where driven_by = 'tick';
select is((select count(*)::int from core.sweep_status where overdue), 0, 'the tick of each minute is a second late');
update core_private.sweeps set last_ok_at = core.now() - 3 * every - interval '301 s';
select is((select count(*)::int from core.sweep_status where not overdue), 0, 'nothing went well for long');
update core_private.sweeps set last_ok_at = null, registered_at = core.now() - 3 * every - interval '301 s', enabled = name <> 'reap';
select is((select string_agg(name, ' ') from core.sweep_status where not overdue), 'reap', 'what never ran counts from its installation, and what is off is not late');
