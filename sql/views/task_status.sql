-- What is not asked for is not looked up: each outcome of a slot is a sub-select, and each of what is joined has at most one row a task by
-- its own definition, so that a list without it leaves the join out. Nothing here is anybody else's before a condition of the reader's is asked
-- of it: the rows of tasks and slots are the reader's by policy, jobs and their runs by the barriers of their views.
create or replace view core.task_status with (security_invoker = true, security_barrier = false) as
select t.task_id, t.namespace, t.name, t.active, t.cron_expression, t.timezone, t.event_type, t.owner, t.registered_by,
       t.next_slot, t.next_run_at, t.waiting_slot, t.last_slot, t.last_run_at, t.failures, t.last_error,
       t.next_run_at < (select core.now()) - interval '3 minutes' as overdue,
       (select x.status from core.task_slots x where x.task_id = t.task_id order by x.slot desc limit 1) as last_status,
       (select x.reason from core.task_slots x where x.task_id = t.task_id order by x.slot desc limit 1) as last_reason,
       (select x.lateness from core.task_slots x where x.task_id = t.task_id and x.lateness is not null order by x.slot desc limit 1) as last_lateness,
       s.fired, s.skipped, s.missed_ranges,
       t.job_id, j.schedule as job_schedule, j.active as job_active, r.status as job_status, r.return_message as job_message, r.start_time as job_started_at,
       array(select jsonb_array_elements_text(t.spec -> 'warnings')) as warnings
  from core.scheduled_tasks t
  left join lateral (
       select count(*) filter (where x.status in ('fired', 'caught_up')) as fired, count(*) filter (where x.status = 'skipped') as skipped,
              count(*) filter (where x.status = 'missed') as missed_ranges
         from core.task_slots x where x.task_id = t.task_id) s on true
  left join (select distinct on (c.jobid) c.jobid, c.schedule, c.active from core.cron_jobs c order by c.jobid) j on j.jobid = t.job_id
  left join (select distinct on (c.jobid) c.jobid, c.status, c.return_message, c.start_time
               from core.cron_job_runs c order by c.jobid, c.runid desc) r on r.jobid = t.job_id;
comment on view core.task_status is 'Recurring tasks: what comes next, how the last slots went, and the job in pg_cron, where there is one. Counts reach back as far as core.task_slots.';
