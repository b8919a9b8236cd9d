-- A sweep whose row was deleted is shown, and running it registers it again as it was; one that is not known stays unknown.
create temporary table was as select name, function, every, driven_by, position from core_private.sweeps;
select is_empty('(table was except select * from core_private.wanted_sweeps()) union all (select * from core_private.wanted_sweeps() except table was)', 'the installer registers what is wanted');
delete from core_private.sweeps where name in ('park', 'promote');
-- The database may have stood for minutes before.
select core.run_sweep('reap');
select results_eq($$select name, enabled, overdue, left(last_error, 5) from core.sweep_status where name in ('park', 'promote', 'reap') order by name$$,
  $$values ('park', false, true, 'NX106'), ('promote', false, true, 'NX106'), ('reap', true, false, null)$$, 'those are shown');
select is(core.run_sweep('park') ->> 'sweep', 'park', 'one that is run');
select is(core.run_sweep('promote') ->> 'sweep', 'promote', 'is there');
select is_empty('table was except select name, function, every, driven_by, position from core_private.sweeps', 'as it was');
select is((select count(*)::int from core.sweep_status where not enabled), 0, 'and enabled');
