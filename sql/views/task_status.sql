-- What is not asked for is not looked up: each outcome of a slot is a sub-select, and each of what is joined has at
-- most one row a task by its own definition, so that a list without it leaves the join out. Nothing here is anybody
-- else's before a condition of the reader's is asked of it: the rows of tasks and slots are the reader's by policy,
-- jobs and their runs by the barriers of their views.
create or replace view core.task_status with (security_invoker = true, security_barrier = false) as
select t.task_id, t.namespace, t.name, t.active, t.cron_expression, t.timezone, t.event_type, t.owner, t.registered_by,
       t.next_slot, t.next_run_at, t.waiting_slot, t.last_slot, t.last_run_at, t.failures, t.last_error,
       t.next_run_at < (select core.now()) - interval '3 minutes' as overdue,
       (select x.status from core.task_slots x where x.task_id = t.task_id order by x.slot desc limit 1) as last_status,
       (select x.reason from core.task_slots x where x.task_id = t.task_id order by x.slot desc limit 1) as last_reason,
       (select x.lateness
          from core.task_slots x
         where x.task_id = t.task_id and x.lateness is not null
         order by x.slot desc
         limit 1) as last_lateness,
       s.fired, s.skipped, s.missed_ranges,
       t.job_id, j.schedule as job_schedule, j.active as job_active,
       r.status as job_status, r.return_message as job_message, r.start_time as job_started_at,
       array(select jsonb_array_elements_text(t.spec -> 'warnings')) as warnings
  from core.scheduled_tasks t
  left join lateral (
       select count(*) filter (where x.status in ('fired', 'caught_up')) as fired,
              count(*) filter (where x.status = 'skipped') as skipped,
              count(*) filter (where x.status = 'missed') as missed_ranges
         from core.task_slots x
        where x.task_id = t.task_id) s on true
  left join (
       select distinct on (c.jobid) c.jobid, c.schedule, c.active
         from core.cron_jobs c
        order by c.jobid) j on j.jobid = t.job_id
  left join (
       select distinct on (c.jobid) c.jobid, c.status, c.return_message, c.start_time
         from core.cron_job_runs c
        order by c.jobid, c.runid desc) r on r.jobid = t.job_id;
comment on view core.task_status is 'Recurring tasks: what comes next, how the last slots went, and the job in pg_cron, where there is one. Counts reach back as far as core.task_slots.';
comment on column core.task_status.task_id is 'Identifies the task.';
comment on column core.task_status.namespace is 'The namespace its events are emitted in.';
comment on column core.task_status.name is 'Unique in the namespace.';
comment on column core.task_status.active is 'Whether it fires; false while paused.';
comment on column core.task_status.cron_expression is 'Five fields, @hourly to @yearly, or @every with a duration.';
comment on column core.task_status.timezone is 'IANA name of the time zone in which the expression is read.';
comment on column core.task_status.event_type is 'Event type of its events.';
comment on column core.task_status.owner is 'Which deployment declared it; NULL for tasks made by hand.';
comment on column core.task_status.registered_by is 'The role that last said what fires when, asked for its rights at each firing.';
comment on column core.task_status.next_slot is 'The slot that comes next; NULL while paused and after the last.';
comment on column core.task_status.next_run_at is 'When that is tried: with the jitter, or later after a failure.';
comment on column core.task_status.waiting_slot is 'Under overlap queue_one: the slot that waits for the event before it, or its run.';
comment on column core.task_status.last_slot is 'The slot that fired last.';
comment on column core.task_status.last_run_at is 'When it fired last.';
comment on column core.task_status.failures is 'Failed firings since the last good one.';
comment on column core.task_status.last_error is 'SQLSTATE and text of the last failed firing; NULL after a good one.';
comment on column core.task_status.overdue is 'Whether next_run_at is more than three minutes ago.';
comment on column core.task_status.last_status is 'What became of its newest slot, as in core.task_slots.';
comment on column core.task_status.last_reason is 'Why, where that was skipped, missed or waits.';
comment on column core.task_status.last_lateness is 'From the slot to its firing, of the newest that fired.';
comment on column core.task_status.fired is 'Slots that fired, as far back as core.task_slots reaches.';
comment on column core.task_status.skipped is 'Slots that were skipped, as far back.';
comment on column core.task_status.missed_ranges is 'Rows for missed slots, each of which may stand for many.';
comment on column core.task_status.job_id is 'The task''s own job in pg_cron, where it has one.';
comment on column core.task_status.job_schedule is 'schedule of that job.';
comment on column core.task_status.job_active is 'Whether pg_cron runs it.';
comment on column core.task_status.job_status is 'status of its last run.';
comment on column core.task_status.job_message is 'What that run returned, or its error.';
comment on column core.task_status.job_started_at is 'When that run began.';
comment on column core.task_status.warnings is 'What is odd about the expression, in words.';
