create or replace view core.sweep_status as
select s.name, s.every, s.driven_by, s.enabled,
       s.last_started_at, s.last_ok_at, s.last_ms, s.failures, s.last_error, s.last_result,
       s.enabled
           and coalesce(s.last_ok_at, s.registered_at)
               < (select core.now()) - 3 * s.every - interval '5 minutes' as overdue
  from core_private.sweeps s
union all
select w.name, w.every, w.driven_by, false,
       null, null, null, 0, 'NX106 its row was deleted; core.run_sweep registers it again', null,
       true
  from core_private.wanted_sweeps() w
 where not exists (select from core_private.sweeps s where s.name = w.name);
comment on view core.sweep_status is 'What core.tick() runs, when it last ran well, and why it did not. One that somebody deleted is shown as not enabled, with NX106 in last_error.';
comment on column core.sweep_status.name is 'What core.run_sweep takes.';
comment on column core.sweep_status.every is 'How often it is due.';
comment on column core.sweep_status.driven_by is 'tick: run by core.tick when due. job: has a pg_cron job of its own, and the tick steps in when that is overdue.';
comment on column core.sweep_status.enabled is 'Whether it runs at all.';
comment on column core.sweep_status.last_started_at is 'When it began last.';
comment on column core.sweep_status.last_ok_at is 'When it last went well; NULL before it ever did.';
comment on column core.sweep_status.last_ms is 'How long the last run took, in milliseconds.';
comment on column core.sweep_status.failures is 'Failed runs since the last good one.';
comment on column core.sweep_status.last_error is 'SQLSTATE and text of the last run; NULL if it went well.';
comment on column core.sweep_status.last_result is 'What the last good run returned.';
comment on column core.sweep_status.overdue is 'Whether it is switched on and has not gone well for three times "every" and five minutes more, as the alert NexusUpkeepOld has it: pg_cron calls each minute at most. One that never did is counted from its installation; one that was deleted is overdue.';
