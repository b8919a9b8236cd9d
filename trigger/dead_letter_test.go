package trigger_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/trigger"
)

// Handlers of dead letters are handlers as others, in each mode, and their success resolves what they were called for.
// holds: DL3
func TestDeadLettersAreHandled(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	ctx := t.Context()
	for name, target := range map[string]string{"fails": "go:fails", "leased": "go:leased", "batch": "go:batch"} {
		one := trigger.Trigger{Namespace: "shop", Name: name, Target: target, Resolve: name != "fails", DeadLetter: &trigger.DeadLetter{Trigger: "to-" + name}}
		if _, err := trigger.Create(ctx, db.Owner, one); err != nil {
			t.Fatal(err)
		}
		if _, err := trigger.Create(ctx, db.Pool, trigger.Trigger{Namespace: "shop", Name: "to-" + name, Target: "go:bad", Event: &trigger.Event{Pattern: name}}); err != nil {
			t.Fatal(err)
		}
	}
	n := node.New(db.Pool, node.Config{Namespace: "shop"})
	n.On("*", func(context.Context, pgx.Tx, *nexus.Delivery) error { return nil })
	n.Triggers().On("bad", func(context.Context, pgx.Tx, *nexus.Delivery) error { return nexus.Reject("never") })
	handled := map[string]int{}
	handle := func(d *nexus.Delivery) error {
		var b trigger.Buried
		if err := json.Unmarshal(d.Payload, &b); err != nil {
			return err
		}
		if b.Target != "go:bad" || b.TriggerID == nil || b.Reason != "never" || b.Attempts != 1 || b.LastAttemptAt == nil || d.Type != "nexus.dead_letter" || d.MaxAttempts != 1 || d.Depth != 1 {
			t.Errorf("%+v of %+v", b, d)
		}
		handled[d.Trigger]++
		return nil
	}
	n.Triggers().On("fails", func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error {
		if err := handle(d); err != nil {
			return err
		}
		panic("it cannot")
	})
	n.Triggers().OnLeased("leased", func(_ context.Context, d *nexus.Delivery) error { return handle(d) })
	n.Triggers().OnBatch("batch", func(_ context.Context, _ pgx.Tx, ds []*nexus.Delivery) error {
		for _, d := range ds {
			if err := handle(d); err != nil {
				return err
			}
		}
		return nil
	})
	for _, eventType := range []string{"fails", "leased", "batch"} {
		if _, err := (queue.Emitter{Namespace: "shop"}).Emit(ctx, db.Pool, eventType, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		if _, err := n.Work(ctx, 100); err != nil {
			t.Fatal(err)
		}
	}
	if len(handled) != 3 || handled["fails"] != 1 || handled["leased"] != 1 || handled["batch"] != 1 {
		t.Errorf("handled %v", handled)
	}
	if got := dbtest.Get[string](db, `select string_agg(concat_ws(' ', envelope ->> 'trigger', status, resolution, handler_failures), ', ' order by envelope ->> 'trigger') from core.dead_letters`); got != "to-batch resolved handled_by_handler 0, to-fails pending 1, to-leased resolved handled_by_handler 0" {
		t.Error(got)
	}
}
