// Package cronsync compares the jobs in pg_cron with those that Nexus wants there, for its tasks and its upkeep, and mends them.
//
// Nodes need not call it: a sweep does the same each minute. It is for who wants to see, or not to wait.
package cronsync

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Kind is what is amiss with a job.
type Kind string

// The kinds of drift.
const (
	Missing       Kind = "missing"        // pg_cron has no such job
	Altered       Kind = "altered"        // schedule, command or port differ, or the task has another id
	Deactivated   Kind = "deactivated"    // somebody switched it off
	Duplicated    Kind = "duplicated"     // another job does the same
	Orphaned      Kind = "orphaned"       // its task is gone, paused or beyond the cap
	WrongDatabase Kind = "wrong_database" // it runs in another one
	ForeignOwner  Kind = "foreign_owner"  // it belongs to another role; never touched
	NotVisible    Kind = "not_visible"    // what the caller may not see; it may be fine, or not
)

// What Apply did.
const (
	Mended    = "mended"
	NamedOnly = "named only" // jobs of others, what nobody can tell, a task that somebody is changing
	Failed    = "failed"     // Detail says why
)

// Drift is one difference.
type Drift struct {
	Kind      Kind
	JobID     int64           // zero if there is no job
	JobName   string          // empty for a job without one
	TaskID    uuid.UUID       // zero for the upkeep
	Namespace nexus.Namespace // empty for the upkeep
	Detail    string          // what differs; of a job of another role also the line that removes it
	Done      string          // of Apply: [Mended], [NamedOnly] or [Failed]
}

// Diff reports, and changes nothing. It sees what the caller may: pg_cron hides the jobs of others from all but superusers, which is a
// row [NotVisible]. Without pg_cron there is nothing to report.
func Diff(ctx context.Context, q nexus.DBTX) ([]Drift, error) {
	return call(ctx, q, "cron_drift", "select d.*, null::text as done from core.cron_drift() d")
}

// Apply mends, in the caller's transaction if there is one, and says what it found and did. It takes nexus_admin.
func Apply(ctx context.Context, q nexus.DBTX) ([]Drift, error) {
	return call(ctx, q, "repair_cron", "select * from core.repair_cron()")
}

func call(ctx context.Context, q nexus.DBTX, op, rows string) ([]Drift, error) {
	var list string
	err := db.Call(ctx, q, op, `select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('Kind', r.kind, 'JobID', coalesce(r.jobid, 0),
			'JobName', coalesce(r.jobname, ''), 'TaskID', coalesce(r.task_id, '00000000-0000-0000-0000-000000000000'),
			'Namespace', coalesce(r.namespace, ''), 'Detail', r.detail, 'Done', coalesce(r.done, ''))), '[]')::text from (`+rows+`) r`, nil, &list)
	if err != nil {
		return nil, err
	}
	var drift []Drift
	if err := json.Unmarshal([]byte(list), &drift); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return drift, nil
}
