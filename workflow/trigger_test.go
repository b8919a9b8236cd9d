package workflow_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/trigger"
	"github.com/nexuspg/nexus/workflow"
)

// holds: start-by-trigger (by a node without the workflow)
// A node that has no workflow starts its runs; what they emit follows from the run, and the run from the event.
func TestTriggersStartRuns(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, int]("w")
	workflow.TxStep(w, "tell", func(ctx context.Context, tx pgx.Tx, r *run) (int, error) {
		_, err := queue.Emitter{Namespace: ns}.Emit(ctx, tx, "told", nil, nil)
		return r.Input.Cents, err
	})
	if _, err := trigger.Create(t.Context(), db.Pool, trigger.Trigger{Namespace: ns, Name: "orders", Event: &trigger.Event{Pattern: "made"}, Target: "workflow:w"}); err != nil {
		t.Fatal(err)
	}
	n := newNode(db, node.Config{ID: "has-it"})
	n.Add(w)
	if _, err := n.Work(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	start(t, db, node.Config{ID: "starts", Poll: time.Minute})
	db.Wait(`select exists (select from core_private.wake_flags where key like '%\_\_triggers' and waiting_until > core.now() + interval '5 s')`)
	db.Exec(`select core.emit('shop', 'made', '{"SKU": "tea", "Cents": 7}', '{"depth": 1, "correlation_id": "c-1"}')`)
	db.Wait(`select exists (select from core.workflow_runs where idempotency_key ~ '^shop/')`)
	start(t, db, node.Config{ID: "runs"}, w)
	db.Wait(`select exists (select from core.event_log where event_type = 'told')`)
	got := dbtest.Get[string](db, `select concat_ws(' ', e.depth, e.correlation_id, e.causation_uid = r.run_id, r.depth, r.causation_uid = m.event_uid)
		from core.event_log e, core.workflow_runs r, core.event_log m where e.event_type = 'told' and m.event_type = 'made'`)
	if got != "3 c-1 t 2 t" {
		t.Errorf("the chain is %s", got)
	}
	reply, err := queue.Request[struct {
		Run uuid.UUID `json:"run_id"`
	}](t.Context(), db.Pool, queue.Emitter{Namespace: ns}, nexus.EventType[order]("workflow:w"), order{Cents: 8})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := await(t, db, w, reply.Run); err != nil {
		t.Error(err)
	}
}

// What a handler starts follows from what it handles.
func TestStartsFollowFromDeliveries(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, int]("w")
	workflow.Step(w, "a", func(context.Context, *run) (int, error) { return 1, nil })
	n := newNode(db, node.Config{})
	n.Add(w)
	if _, err := n.Work(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	uid := uuid.New()
	ctx := nexus.WithDelivery(t.Context(), &nexus.Delivery{Event: nexus.Event{UID: uid, Depth: 4, Headers: map[string]string{"traceparent": traceparent}}})
	id, _, err := w.Start(ctx, db.Pool, ns, order{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := dbtest.Get[string](db, `select concat_ws(' ', depth, causation_uid, correlation_id, traceparent) from core_private.workflow_runs where run_id = $1`, id)
	if want := "5 " + uid.String() + " " + uid.String() + " " + traceparent; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
