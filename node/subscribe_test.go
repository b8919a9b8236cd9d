package node_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// Handlers of two consumers and of the node itself get an event each, in every mode; the node creates the consumers.
// holds: C1
func TestSubscribe(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	emit(t, db, "user.made", 1)
	n := node.New(db.Pool, node.Config{Namespace: "shop"})
	var own, leased, batched, typed atomic.Int32
	n.On("user.*", func(context.Context, pgx.Tx, *nexus.Delivery) error { own.Add(1); return nil })
	mailer := n.Subscribe("mailer", "user.made")
	mailer.Retry = nexus.RetryPolicy{MaxAttempts: 3}
	node.OnLeasedT(mailer, nexus.EventType[int]("user.made"), func(_ context.Context, d *nexus.DeliveryOf[int]) error {
		if d.Consumer == "mailer" && d.MaxAttempts == 3 {
			leased.Add(int32(d.Payload))
		}
		return nil
	})
	search := n.Subscribe("search", "user.*")
	search.FromBeginning = true
	search.OnBatch("user.*", func(_ context.Context, _ pgx.Tx, batch []*nexus.Delivery) error {
		batched.Add(int32(len(batch)))
		return nil
	})
	node.OnT(n.Subscribe("count", "*"), nexus.EventType[int]("user.made"), func(context.Context, pgx.Tx, *nexus.DeliveryOf[int]) error { typed.Add(1); return nil })
	stop := start(t, n)
	db.Wait(`select count(*) = 4 from core.consumers`)
	eventually(t, "the backfill has ended", time.Minute, func() bool {
		db.Exec(`select core.run_sweep('backfills')`) // which waits for transactions that are alive
		return dbtest.Get[bool](db, `select bool_and(backfill = 'done') from core.consumer_status where consumer = 'search'`)
	})
	emit(t, db, "user.made", 1)
	db.Wait(`select coalesce(sum(queue_length), 0) = 0 from core.queue_metrics`)
	stop()
	if own.Load() != 2 || leased.Load() != 1 || batched.Load() != 2 || typed.Load() != 1 {
		t.Errorf("own %d, leased %d, batched %d, typed %d; want 2, 1, 2, 1", own.Load(), leased.Load(), batched.Load(), typed.Load())
	}

	again := node.New(db.Pool, node.Config{Namespace: "shop"})
	again.Subscribe("mailer", "user.*").OnLeased("user.*", func(context.Context, *nexus.Delivery) error { return nil })
	err := again.Run(t.Context())
	if !errors.Is(err, nexus.ErrConflict) || !strings.Contains(err.Error(), `patterns is ["user.made"], given ["user.*"]`) {
		t.Errorf("Run with other patterns: %v", err)
	}
	if _, err = again.Work(t.Context(), 1); !errors.Is(err, nexus.ErrConflict) {
		t.Errorf("Work with other patterns: %v", err)
	}
	twice := node.New(db.Pool, node.Config{Namespace: "shop"})
	twice.Subscribe("mailer", "a")
	twice.Subscribe("mailer", "b")
	if err := twice.Run(t.Context()); !errors.Is(err, nexus.ErrInvalid) {
		t.Errorf("Run of one declared twice: %v", err)
	}
}

// A consumer that is paused gives nothing, leased or express, within a second; one that is dropped ends its handlers, and the node goes on with
// the others.
// holds: C3
func TestAConsumerIsPausedAndDroppedWhileTheNodeRuns(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	var log buffer
	n := node.New(db.Pool, node.Config{Namespace: "shop", Lease: 2 * time.Second, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	var first, second, own atomic.Int32
	n.On("a.*", func(context.Context, pgx.Tx, *nexus.Delivery) error { own.Add(1); return nil })
	n.Subscribe("first", "a.*").OnBatch("a.*", func(_ context.Context, _ pgx.Tx, b []*nexus.Delivery) error { first.Add(int32(len(b))); return nil })
	lost := make(chan error, 1)
	n.Subscribe("second", "a.*").OnLeased("a.*", func(ctx context.Context, d *nexus.Delivery) error {
		if d.Type == "a.long" {
			<-ctx.Done()
			lost <- context.Cause(ctx)
		}
		second.Add(1)
		return nil
	})
	stop := start(t, n)
	db.Wait(`select count(*) = 3 from core.consumers`)
	emit(t, db, "a.one", 1)
	eventually(t, "all have one", time.Minute, func() bool { return own.Load() == 1 && first.Load() == 1 && second.Load() == 1 })
	for _, name := range []string{"first", "second"} {
		if changed, err := queue.PauseConsumer(t.Context(), db.Owner, "shop", name); err != nil || !changed {
			t.Fatalf("pause: %v, %v", changed, err)
		}
	}
	emit(t, db, "a.two", 1)
	eventually(t, "others go on", time.Minute, func() bool { return own.Load() == 2 })
	db.Wait(`select count(*) = 2 from core.queue_metrics where visible = 1`)
	if first.Load() != 1 || second.Load() != 1 {
		t.Error("a paused consumer was claimed from")
	}
	for _, name := range []string{"first", "second"} {
		if changed, err := queue.ResumeConsumer(t.Context(), db.Owner, "shop", name); err != nil || !changed {
			t.Fatalf("resume: %v, %v", changed, err)
		}
	}
	eventually(t, "they have it", time.Minute, func() bool { return first.Load() == 2 && second.Load() == 2 })

	emit(t, db, "a.long", 1)
	db.Wait(`select in_flight = 1 from core.queue_metrics where queue_name = 'core_events_shop__second'`)
	if err := queue.DropConsumer(t.Context(), db.Owner, "shop", "second", false); !errors.Is(err, nexus.ErrConflict) {
		t.Errorf("drop: %v", err)
	}
	if err := queue.DropConsumer(t.Context(), db.Owner, "shop", "second", true); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-lost:
		if !errors.Is(err, nexus.ErrLeaseLost) {
			t.Errorf("the handler ends by %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the handler keeps its lease")
	}
	emit(t, db, "a.three", 1)
	eventually(t, "the others go on", time.Minute, func() bool { return own.Load() == 4 && first.Load() == 4 })
	if n := dbtest.Get[int](db, `select count(*)::int from core.consumers`); n != 2 {
		t.Errorf("%d consumers", n)
	}
	eventually(t, "the log says so", time.Minute, func() bool { return strings.Contains(log.String(), "the consumer was dropped") })
	if err := errors.Join(n.Ready(), n.Health()); err != nil {
		t.Errorf("a node whose consumer was dropped on purpose is not well: %v", err)
	}
	stop()
	for line, want := range map[string]int{"the consumer was dropped": 1, "queue tables are missing": 0, "cannot claim": 0, "cannot renew": 0, "stopped without": 0} {
		if got := strings.Count(log.String(), `msg="`+line); got != want {
			t.Errorf("%q is said %d times, want %d:\n%s", line, got, want, log.String())
		}
	}
}
