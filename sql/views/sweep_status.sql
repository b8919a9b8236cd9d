create or replace view core.sweep_status as
select s.name, s.every, s.driven_by, s.enabled, s.last_started_at, s.last_ok_at, s.last_ms, s.failures, s.last_error, s.last_result,
       s.last_ok_at is null or s.last_ok_at < (select core.now()) - 3 * s.every as overdue
  from core_private.sweeps s;
comment on view core.sweep_status is 'What core.tick() runs, when it last ran well, and why it did not.';
