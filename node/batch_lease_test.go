package node_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
)

// A batch under leases that takes longer than they last keeps them.
// holds: H3-leased
func TestLeasesOfABatchAreRenewed(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	release := make(chan struct{})
	n := node.New(db.Pool, node.Config{Namespace: ns, Lease: patient})
	n.OnBatch("x", func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error {
		for _, d := range batch {
			if err := effect(ctx, tx, d, ""); err != nil {
				return err
			}
		}
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}).Leased = true
	emitMany(t, db, 20)
	start(t, n)
	db.Wait(`select count(*) = 20 and bool_and(vt > last_read_at + interval '4 s') from pgmq.q_core_events_shop`)
	close(release)
	db.Wait(queueEmpty)
	if got := dbtest.Get[string](db, `select count(*) || ' ' || count(distinct event_uid) || ' ' || max(attempt) from public.effect`); got != "20 20 1" {
		t.Errorf("effects, events and attempts are %s, want 20 20 1", got)
	}
}

// One event of the batch that somebody else has taken undoes the batch, and the others are handled again without using an attempt.
// holds: H3-leased
func TestABatchThatLosesALeaseIsUndone(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Lease: time.Second})
	cause := make(chan error, 1)
	n.OnBatch("x", func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error {
		for _, d := range batch {
			if err := effect(ctx, tx, d, ""); err != nil {
				return err
			}
		}
		if len(batch) < 20 || len(cause) > 0 {
			return nil
		}
		db.Exec(`update pgmq.q_core_events_shop set read_ct = read_ct + 1 where msg_id = 7`) // another node took it
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return nil
	}).Leased = true
	emitMany(t, db, 20)
	start(t, n)
	db.Wait(queueEmpty)
	if err := <-cause; !errors.Is(err, nexus.ErrLeaseLost) {
		t.Errorf("cause %v, want ErrLeaseLost", err)
	}
	if got := dbtest.Get[string](db, `select count(*) || ' ' || count(distinct event_uid) from public.effect`); got != "20 20" {
		t.Errorf("effects and events are %s, want 20 20", got)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters`); n != 0 {
		t.Errorf("%d dead letters, want none", n)
	}
}
