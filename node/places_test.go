package node_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// gauge counts what is there at once.
type gauge struct{ now, most atomic.Int32 }

func (g *gauge) in() {
	n := g.now.Add(1)
	for {
		most := g.most.Load()
		if n <= most || g.most.CompareAndSwap(most, n) {
			return
		}
	}
}

func (g *gauge) out() { g.now.Add(-1) }

// every registers handlers of the four modes that hold a transaction, by the type of their events. Two groups of batches are among them.
func every(n *node.Node, f func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error) (types []string) {
	one := func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return f(ctx, tx, []*nexus.Delivery{d}) }
	n.On("on", one)
	n.On("express", one).Express = true
	n.OnBatch("batch", f)
	n.OnBatch("leased-batch", f).Leased = true
	return []string{"on", "express", "batch", "leased-batch"}
}

func effects(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error {
	for _, d := range batch {
		if err := effect(ctx, tx, d, d.Type); err != nil {
			return err
		}
	}
	return nil
}

// Workers are the handlers at once over all modes that hold a transaction, and LeasedWorkers of the fifth, whatever goes on in the others.
// holds: workers
func TestWorkersAreThoseOfAllModes(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			const each = 40
			var holding, leased gauge
			n := node.New(db.Pool, node.Config{Namespace: ns, Workers: workers, LeasedWorkers: 1})
			types := every(n, func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error {
				holding.in()
				defer holding.out()
				if _, err := tx.Exec(ctx, `select pg_sleep(0.002)`); err != nil { // so that there is time to meet
					return err
				}
				return effects(ctx, tx, batch)
			})
			n.OnLeased("leased", func(ctx context.Context, d *nexus.Delivery) error {
				leased.in()
				defer leased.out()
				return pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
					if err := effect(ctx, tx, d, d.Type); err != nil {
						return err
					}
					return queue.Ack(ctx, tx, d)
				})
			})
			types = append(types, "leased")
			emitTypes(t, db, each*len(types), types...)
			start(t, n)
			emitTypes(t, db, each*len(types), types...)
			db.Wait(queueEmpty)
			checkEffects(t, db, 2*each*len(types))
			if got := int(holding.most.Load()); got > workers {
				t.Errorf("%d handlers at once, want %d at most", got, workers)
			}
			if got := leased.most.Load(); got > 1 {
				t.Errorf("%d leased handlers at once, want one", got)
			}
		})
	}
}

// However much one mode has to do, the others get their turn.
func TestABusyModeStarvesNoOther(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	const events = 3000
	n := node.New(db.Pool, node.Config{Namespace: ns, Workers: 1})
	var calls, others atomic.Int32
	every(n, func(_ context.Context, _ pgx.Tx, batch []*nexus.Delivery) error {
		if batch[0].Type == "on" {
			calls.Add(1)
		} else {
			others.Add(1)
		}
		return nil
	})
	emitTypes(t, db, events, "on")
	start(t, n)
	// By now it claims ahead, so that it has always one more to handle.
	eventually(t, "handlers run one after another", time.Minute, func() bool { return calls.Load() > 100 })
	emitTypes(t, db, 3, "express", "batch", "leased-batch")
	began := calls.Load()
	eventually(t, "the others have had a turn", time.Minute, func() bool { return others.Load() == 3 })
	if got := calls.Load(); got >= events {
		t.Errorf("the others had to wait for all %d handlers of the busy mode, since the %dth", got, began)
	}
}

// A handler that does not come back keeps its place, whatever mode the others are of, and a node whose places are all kept is not ready.
// holds: workers
func TestAStuckHandlerKeepsItsPlace(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Workers: 1, Timeout: 50 * time.Millisecond, Retry: nexus.RetryPolicy{MaxAttempts: 1}})
	began, free := make(chan struct{}), make(chan struct{})
	n.OnBatch("stuck", func(context.Context, pgx.Tx, []*nexus.Delivery) error { close(began); <-free; return nil }).Leased = true
	n.On("on", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") }).Timeout = time.Minute
	emit(t, db, "stuck", nil)
	start(t, n)
	<-began
	emit(t, db, "on", nil)
	db.Wait(`select count(*) = 1 from core.dead_letters`)
	if err := n.Ready(); !errors.Is(err, node.ErrStuck) {
		t.Errorf("Ready: %v, and there is no place", err)
	}
	checkEffects(t, db, 0)
	close(free)
	db.Wait(queueEmpty)
	checkEffects(t, db, 1)
	eventually(t, "the node is ready", time.Minute, func() bool { return n.Ready() == nil })
}
