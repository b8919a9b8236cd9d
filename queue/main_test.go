package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/pgmqueue"
	"github.com/nexuspg/nexus/internal/work"
	"github.com/nexuspg/nexus/queue"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

const (
	ns        = "shop"
	mainQueue = "core_events_shop"
)

var bus = queue.Emitter{Namespace: ns}

func newDB(t *testing.T) *dbtest.DB {
	t.Helper()
	db := dbtest.New(t)
	db.Namespace(ns)
	return db
}

// unasked is where a call must not go.
type unasked struct{ t *testing.T }

func (u unasked) QueryRow(_ context.Context, sql string, _ ...any) pgx.Row {
	u.t.Helper()
	u.t.Fatalf("the database was asked: %s", sql)
	return nil
}

// claim leases one message of the main queue for a minute, as a node does for a leased handler.
func claim(t *testing.T, db *dbtest.DB) *nexus.Delivery {
	t.Helper()
	source := pgmqueue.Deliveries{
		Pool: db.Pool, Namespace: ns, Consumer: "default", Queue: mainQueue, MaxAttempts: func(string) int { return 10 },
	}
	found, err := source.Claim(t.Context(), nil, work.Want{Types: []string{"*"}, MaxAttempts: []int{0}, Limit: 1, Alone: true, Anew: true, Lease: time.Minute})
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("claim: %d items, %v", len(found.Items), err)
	}
	return found.Items[0].Handed(true)
}

func truncated(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
