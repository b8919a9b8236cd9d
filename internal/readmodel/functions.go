package readmodel

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/db"
)

// The selects from functions that answer with rows, for [Select], and for the public functions of the same names.
const (
	// Peek takes a queue and how many messages at most.
	Peek = `select msg_id, state, event_type, read_ct, enqueued_at, vt, message, headers
		from core.peek($1::text, $2::int) order by msg_id`

	// EventStatus takes an event_id, and whether long queues are read whole.
	EventStatus = `select consumer, state, queue_name, msg_id, attempt, due_at, dead_letter_id, detail
		from core.event_status($1::int8, $2::bool)`

	// NextRuns takes an expression, a time zone, the time after which (NULL: now) and how many at most.
	NextRuns = `select r as slot, r at time zone $2::text as local_time, $2::text as timezone
		from core.next_runs($1::text, $2::text, $3::timestamptz, $4::int) r`

	// NextRunsOfTask takes a namespace and a task's name in place of the first two.
	NextRunsOfTask = `select r as slot, r at time zone t.timezone as local_time, t.timezone
		from core.scheduled_tasks t cross join core.next_runs(t.task_id, $3::timestamptz, $4::int) r
		where t.namespace = $1::text and t.name = $2::text`
)

// The most that is shown or picked by one call.
const (
	MostPeeked = 1000 // messages of core.peek
)

// Now is the clock that everything goes by, the database's.
func Now(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) (now time.Time, err error) {
	err = q.QueryRow(ctx, "select core.now()").Scan(&now)
	return now, db.Error(ctx, "now", err)
}
