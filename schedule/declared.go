package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/svc"
)

// Declared is the whole set of one owner's tasks, in code as they are meant to be. What the owner no longer declares is deleted; tasks
// of others and tasks made by hand are left alone, and a name that one of them has is [nexus.ErrConflict]. An owner is a deployment,
// not a process: all its nodes declare the same.
//
// Given to a node's Add it is applied when the node runs, or first works (node.Node.Work). Tasks without a Namespace are then in the node's.
type Declared struct {
	Owner string
	Tasks []Task
}

// Change is one line of what was changed, or would be.
type Change struct {
	Task     string // "namespace/name"
	Action   string // "create", "change" (a line for each field) or "delete"
	Field    string // of a change, as in core.scheduled_tasks
	From, To string // the expression, where a task comes or goes
}

// Apply makes the owner's tasks in the database those of d, all or none, and says what that changed: nothing, the second time.
// Paused tasks stay paused. With dryRun it is done and undone, so that whatever would be refused is. The Field of an error names the
// task, counted from 1 as arrays are in SQL: "p_tasks[3].jitter".
func (d Declared) Apply(ctx context.Context, q nexus.DBTX, dryRun bool) ([]Change, error) {
	const op = "apply_tasks"
	if d.Owner == "" {
		return nil, &nexus.Error{Op: op, Code: nexus.CodeArgumentValue, Field: "Declared.Owner", Message: "Declared.Owner is empty",
			Hint: "name the deployment, the same each time: what it no longer declares is deleted"}
	}
	tasks := make([]json.RawMessage, len(d.Tasks))
	for i := range d.Tasks {
		t := &d.Tasks[i]
		at := fmt.Sprintf("p_tasks[%d]", i+1)
		payload, err := db.Payload(op, at+".payload", t.Payload)
		if err != nil {
			return nil, err
		}
		o := db.NewOptions(op, " of "+at)
		o.Text("namespace", string(t.Namespace))
		o.Text("name", t.Name)
		o.Text("cron_expression", t.Cron)
		o.Text("event_type", t.Type)
		o.JSON("payload", json.RawMessage(payload))
		t.settings(o)
		task, err := o.Encode()
		if err != nil {
			return nil, err
		}
		tasks[i] = json.RawMessage(task)
	}
	encoded, err := json.Marshal(tasks)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	var rows string
	err = db.Call(ctx, q, op, `select coalesce(json_agg(json_build_object('Task', c.task, 'Action', c.action, 'Field', coalesce(c.field, ''),
			'From', coalesce(c.old_value, ''), 'To', coalesce(c.new_value, '')) order by c.n), '[]')::text
		from core.apply_tasks($1::text, $2::text::jsonb, $3::boolean) with ordinality as c(task, action, field, old_value, new_value, n)`,
		[]any{d.Owner, string(encoded), dryRun}, &rows)
	if err != nil {
		return nil, err
	}
	var changes []Change
	if err := json.Unmarshal([]byte(rows), &changes); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return changes, nil
}

// Declare is called by the node.
func (d Declared) Declare(ctx context.Context, h *svc.Host) error {
	own := Declared{Owner: d.Owner, Tasks: make([]Task, len(d.Tasks))}
	for i, t := range d.Tasks {
		if t.Namespace == "" {
			t.Namespace = h.Namespace
		}
		own.Tasks[i] = t
	}
	changes, err := own.Apply(ctx, h.Own, false)
	for _, c := range changes {
		what := []slog.Attr{slog.String("task", c.Task), slog.String("owner", d.Owner)}
		for _, a := range []slog.Attr{slog.String("field", c.Field), slog.String("from", c.From), slog.String("to", c.To)} {
			if a.Value.String() != "" {
				what = append(what, a)
			}
		}
		h.Logger.LogAttrs(ctx, slog.LevelInfo, "task "+c.Action+"d", what...)
	}
	return err
}

// Runner is called by the node: there is nothing to run.
func (d Declared) Runner(*svc.Host) svc.Runner { return nil }
