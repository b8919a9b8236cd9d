package schedule

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Task emits an event at each slot of its schedule. Zero fields mean the default. It is known by namespace and name.
type Task struct {
	Namespace        nexus.Namespace
	Name             string
	Cron             string // five fields, @hourly to @yearly, or "@every 90s": see [Check]
	Zone             string // an IANA name; "": UTC
	Type             string
	Payload          any // json.RawMessage as it is, nil as {}, anything else by json.Marshal
	Misfire          Misfire
	MisfireAfter     time.Duration // slots no older than this are late, not missed, and all fire; 0: two minutes
	Backfill         int           // most slots caught up under BackfillMissed; 0: 100
	Overlap          Overlap
	Jitter           time.Duration // fires up to this much after its slot, always by the same share of it
	StartsAt, EndsAt time.Time     // the first and the last moment at which it may have a slot; "@every" counts from StartsAt
}

// TaskOf is task with an event type and a payload that the compiler checks, in place of what task says of these.
func TaskOf[T any](t nexus.EventType[T], payload T, task Task) Task {
	task.Type, task.Payload = string(t), payload
	return task
}

// Misfire is what happens to slots that passed while nothing could fire.
type Misfire string

// The policies for missed slots.
const (
	FireOnce       Misfire = "" // the newest of them, once
	SkipMissed     Misfire = "skip"
	BackfillMissed Misfire = "backfill" // the newest Backfill of them, oldest first
)

// Overlap is what happens to a slot while the event of an earlier one is undelivered or running, or a run of a workflow that a trigger started for it
// has not ended.
type Overlap string

// The policies for overlap.
const (
	OverlapDefault Overlap = "" // Allow; for @every Skip
	Allow          Overlap = "allow"
	Skip           Overlap = "skip"
	QueueOne       Overlap = "queue_one" // one slot waits, further ones are skipped
)

// ScheduleTask creates the task, or gives the one of that name these settings, and returns its id. A task that was paused stays so.
// One that a [Declared] set owns is refused: [nexus.ErrConflict].
func ScheduleTask(ctx context.Context, q nexus.DBTX, t Task) (id uuid.UUID, err error) {
	const op = "schedule_task"
	payload, err := db.Payload(op, "p_payload", t.Payload)
	if err != nil {
		return id, err
	}
	o := db.NewOptions(op, "")
	t.settings(o)
	options, err := o.Encode()
	if err != nil {
		return id, err
	}
	err = db.Call(ctx, q, op, "select core.schedule_task($1::text, $2::text, $3::text, $4::text, $5::text::jsonb, $6::text::jsonb)",
		[]any{string(t.Namespace), t.Name, t.Cron, t.Type, payload, options}, &id)
	return id, err
}

func (t *Task) settings(o *db.Options) {
	o.Text("timezone", t.Zone)
	o.Text("misfire", string(t.Misfire))
	o.Duration("misfire_after", t.MisfireAfter)
	o.Number("backfill", int64(t.Backfill))
	o.Text("overlap", string(t.Overlap))
	o.Duration("jitter", t.Jitter)
	o.Time("starts_at", t.StartsAt)
	o.Time("ends_at", t.EndsAt)
}

// PauseTask stops a task from firing until [ResumeTask]. A slot that is due and has not fired is skipped. A paused task stays paused.
func PauseTask(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string) error {
	return db.Do(ctx, q, "pause_task", "core.pause_task($1::text, $2::text)", string(ns), name)
}

// ResumeTask lets a paused task fire again, from the next slot on: what came while it was paused is not caught up.
func ResumeTask(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string) error {
	return db.Do(ctx, q, "resume_task", "core.resume_task($1::text, $2::text)", string(ns), name)
}

// DeleteTask deletes a task. What became of its slots stays in core.task_slots for a week.
func DeleteTask(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string) error {
	return db.Do(ctx, q, "delete_task", "core.delete_task($1::text, $2::text)", string(ns), name)
}

// RunTaskNow emits the task's event now, once more than its schedule says. A paused task is refused. The event is for no slot:
// [nexus.Event] has a ScheduledTaskID, but its Slot is zero, which a handler that works up to d.Slot must look for.
func RunTaskNow(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string) error {
	return db.Do(ctx, q, "run_task_now", "core.run_task_now($1::text, $2::text)", string(ns), name)
}

// BackfillTask fires the slots from the first time up to the second, at most to now and 1,000 of them, that have not fired or been skipped,
// and returns how many. The overlap policy is not asked. A paused task is refused.
func BackfillTask(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string, from, to time.Time) (n int, err error) {
	err = db.Call(ctx, q, "backfill_task", "select core.backfill_task($1::text, $2::text, $3::timestamptz, $4::timestamptz)",
		[]any{string(ns), name, db.Time(from), db.Time(to)}, &n)
	return n, err
}

// NextRuns returns the next n slots, at most 1,000, after from (zero: now), in UTC; fewer if there are no more. It is what fires: the
// computation is the same. "@every" counts from from here.
func NextRuns(ctx context.Context, q nexus.DBTX, cron, zone string, from time.Time, n int) ([]time.Time, error) {
	const op = "next_runs"
	if zone == "" {
		zone = "UTC"
	}
	var after any
	if !from.IsZero() {
		after = db.Time(from)
	}
	var micros []int64
	err := db.Call(ctx, q, op, `select coalesce(array_agg((extract(epoch from r) * 1000000)::bigint order by r), '{}')
		from core.next_runs($1::text, $2::text, $3::text::timestamptz, $4::int) r`, []any{cron, zone, after, n}, &micros)
	if err != nil {
		return nil, err
	}
	runs := make([]time.Time, len(micros))
	for i, m := range micros {
		runs[i] = time.UnixMicro(m).UTC()
	}
	return runs, nil
}
