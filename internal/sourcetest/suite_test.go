package sourcetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/member"
	"github.com/nexuspg/nexus/internal/pgmqueue"
	"github.com/nexuspg/nexus/internal/sourcetest"
	"github.com/nexuspg/nexus/internal/work"
	"github.com/nexuspg/nexus/queue"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func inMemory(t *testing.T, try func(t *testing.T, m *sourcetest.Memory, emit func(types ...string), pass func(time.Duration))) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &sourcetest.Memory{}
		try(t, m, func(types ...string) { m.Emit(types...) }, func(d time.Duration) { <-time.After(d) })
	})
}

// holds: sources
func TestMemory(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, func(t *testing.T, try func(*testing.T, sourcetest.Bench)) {
		t.Helper()
		inMemory(t, func(t *testing.T, m *sourcetest.Memory, emit func(types ...string), pass func(time.Duration)) {
			t.Helper()
			try(t, sourcetest.Bench{Source: m, Emit: emit, Pass: pass})
		})
	})
	sourcetest.RunBatches(t, func(t *testing.T, try func(*testing.T, sourcetest.BatchBench)) {
		t.Helper()
		inMemory(t, func(t *testing.T, m *sourcetest.Memory, emit func(types ...string), pass func(time.Duration)) {
			t.Helper()
			try(t, sourcetest.BatchBench{Source: m, Emit: emit, Pass: pass})
		})
	})
}

// onPostgres makes the source of a queue of a namespace's own.
func onPostgres(t *testing.T) (_ *pgmqueue.Deliveries, emit func(types ...string), pass func(time.Duration)) {
	t.Helper()
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	db.SetNow(db.Now()) // it stands still but for Pass
	who := &member.Member{Pool: db.Pool, Namespace: "shop", Wanted: "n"}
	if err := who.Register(t.Context(), work.Abilities{Types: []string{"*"}, Consumers: []string{"default"}}, map[string]any{}); err != nil {
		t.Fatal(err)
	}
	name, attempts, err := who.Consumer(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	session, err := invoke.ReadSession(t.Context(), db.Pool)
	if err != nil {
		t.Fatal(err)
	}
	source := &pgmqueue.Deliveries{
		Pool: db.Pool, Handlers: db.Pool, Session: session, Namespace: "shop", Consumer: "default", Queue: name, Node: who.ID,
		MaxAttempts: func(string) int { return attempts },
	}
	return source, func(types ...string) {
		for _, one := range types {
			if _, err := (queue.Emitter{Namespace: "shop"}).Emit(t.Context(), db.Pool, one, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
	}, db.Advance
}

// holds: sources
func TestDeliveries(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, func(t *testing.T, try func(*testing.T, sourcetest.Bench)) {
		t.Helper()
		source, emit, pass := onPostgres(t)
		try(t, sourcetest.Bench{Source: source, Emit: emit, Pass: pass})
	})
	sourcetest.RunBatches(t, func(t *testing.T, try func(*testing.T, sourcetest.BatchBench)) {
		t.Helper()
		source, emit, pass := onPostgres(t)
		try(t, sourcetest.BatchBench{Source: source, Emit: emit, Pass: pass})
	})
}
