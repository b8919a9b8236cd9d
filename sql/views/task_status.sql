create or replace view core.task_status with (security_invoker = true) as
select t.task_id, t.namespace, t.name, t.active, t.cron_expression, t.timezone, t.event_type, t.owner, t.registered_by,
       t.next_slot, t.next_run_at, t.waiting_slot, t.last_slot, t.last_run_at, t.failures, t.last_error,
       t.next_run_at < core.now() - interval '3 minutes' as overdue,
       s.last_status, s.last_reason, s.last_lateness, s.fired, s.skipped, s.missed_ranges,
       t.job_id, j.schedule as job_schedule, j.active as job_active, r.status as job_status, r.return_message as job_message, r.start_time as job_started_at
  from core.scheduled_tasks t
 cross join lateral (
       select (array_agg(x.status order by x.slot desc))[1] as last_status, (array_agg(x.reason order by x.slot desc))[1] as last_reason,
              (array_agg(x.lateness order by x.slot desc) filter (where x.lateness is not null))[1] as last_lateness,
              count(*) filter (where x.status in ('fired', 'caught_up')) as fired, count(*) filter (where x.status = 'skipped') as skipped,
              count(*) filter (where x.status = 'missed') as missed_ranges
         from core.task_slots x where x.task_id = t.task_id) s
  left join core.cron_jobs j on j.jobid = t.job_id
  left join core_private.cron_last_runs() r on r.jobid = t.job_id;
comment on view core.task_status is 'Recurring tasks: what comes next, how the last slots went, and the job in pg_cron, where there is one. Counts reach back as far as core.task_slots.';
