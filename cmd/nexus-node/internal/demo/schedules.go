package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/schedule"
)

const (
	reportType   = "office.report"   // of the tasks
	reminderType = "office.reminder" // of the one-shots

	// oneShotsIn is long enough that the one to be cancelled is still pending then, on a busy machine too, and shorter than the rest.
	oneShotsIn = 10 * time.Second

	// intervalRuns is how often the interval has to fire before the demo goes on; each minute has one slot, and one is enough.
	intervalRuns = 3
)

// tasks are due each minute, in each zone, so that nobody waits for a time of day. The interval is less than pg_cron knows.
var tasks = []schedule.Task{
	{Name: "Berlin", Cron: "* * * * *", Zone: "Europe/Berlin"},
	{Name: "New York", Cron: "* * * * *", Zone: "America/New_York"},
	{Name: "Kolkata", Cron: "* * * * *", Zone: "Asia/Kolkata"},
	{Name: "pulse", Cron: "@every 2s"},
}

// report is the effect of a task's event, and of a one-shot's.
func report(ctx context.Context, tx pgx.Tx, d *nexus.Delivery, name string) error {
	_, err := tx.Exec(ctx, writeReport, d.UID, name, d.Attempt)
	return err
}

const writeReport = `insert into demo.reports (event_uid, node, attempt) values ($1, $2, $3)`

// schedule makes the tasks and two one-shots, and cancels one of these. It comes before all else, so that the first full minute
// comes while the webhooks are handled.
func (d *demo) schedule(ctx context.Context) error {
	for _, t := range tasks {
		t.Namespace, t.Type, t.Payload = namespace, reportType, map[string]string{"office": t.Name}
		if _, err := schedule.ScheduleTask(ctx, d.app, t); err != nil {
			return err
		}
	}
	at := time.Now().Add(oneShotsIn)
	if err := d.remind(ctx, "stays", at); err != nil {
		return err
	}
	if err := d.remind(ctx, "is cancelled", at); err != nil {
		return err
	}
	if err := d.cancelReminder(ctx, "is cancelled"); err != nil {
		return err
	}
	d.tell("%d tasks are scheduled, and of two one-shots for %s one is cancelled", len(tasks), at.UTC().Format(time.TimeOnly))
	return nil
}

// remind schedules a one-shot in the transaction that writes its business row.
func (d *demo) remind(ctx context.Context, about string, at time.Time) error {
	return pgx.BeginFunc(ctx, d.app, func(tx pgx.Tx) error {
		id, err := schedule.ScheduleEvent(ctx, tx, namespace, reminderType, map[string]string{"about": about}, at, nil)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `insert into demo.reminders (event_uid, about) values ($1, $2)`, id, about)
		return err
	})
}

// cancelReminder takes a one-shot back in the transaction that says so in the business row.
func (d *demo) cancelReminder(ctx context.Context, about string) error {
	return pgx.BeginFunc(ctx, d.app, func(tx pgx.Tx) error {
		var id [16]byte
		err := tx.QueryRow(ctx, `update demo.reminders set cancelled = true where about = $1 returning event_uid`, about).Scan(&id)
		if err != nil {
			return err
		}
		switch outcome, err := schedule.CancelScheduledEvent(ctx, tx, id); {
		case err != nil:
			return err
		case outcome != schedule.Cancelled:
			return fmt.Errorf("cancel a one-shot, %s before its time: %s", oneShotsIn, outcome)
		}
		return nil
	})
}

// awaitSlots waits for what is missing: a slot of each task, three of the interval, a run of each task's job by pg_cron, and the time
// of the one-shots. The ledger decides, not the effects, which are judged later. Then it shows all of it.
func (d *demo) awaitSlots(ctx context.Context) error {
	d.tell("waiting for the next full minute, unless the tasks have had one")
	if err := d.wait(ctx, "each task to fire, and the one-shot", `
		select count(*) = $2 and not exists (select from core.scheduled_events e where e.namespace = $1 and (e.status = 'pending' or e.fire_at > core.now()))
		  from core.task_status t
		 where t.namespace = $1 and t.fired >= case when t.cron_expression like '@every%' then $3 else 1 end and (t.job_status = 'succeeded' or not $4)`,
		namespace, len(tasks), intervalRuns, d.hasCron()); err != nil {
		return err
	}
	d.tell("each task has fired, and the one-shot")
	if d.hasCron() {
		if err := d.table(ctx, "cron.job", `select jobid, jobname, schedule, command, username from cron.job order by jobid`); err != nil {
			return err
		}
	}
	if err := d.table(ctx, "core.task_status", `
		select name, cron_expression, timezone, to_char(last_slot at time zone timezone, 'HH24:MI:SS') as last_slot_there, fired, skipped,
		       last_lateness, job_id, job_status
		  from core.task_status order by job_id, name`); err != nil {
		return err
	}
	if err := d.table(ctx, "core.scheduled_events", `
		select event_type, payload, status, fire_at, finished_at, event_id from core.scheduled_events order by payload`); err != nil {
		return err
	}
	d.say("")
	return d.pauseTasks(ctx)
}

// pauseTasks keeps pg_cron from firing what no node will handle, on a server that stays.
func (d *demo) pauseTasks(ctx context.Context) error {
	for _, t := range tasks {
		if err := schedule.PauseTask(ctx, d.app, namespace, t.Name); err != nil {
			return err
		}
	}
	d.tell("the tasks are paused, so that the queue can become empty")
	return nil
}
