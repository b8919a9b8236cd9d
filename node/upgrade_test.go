package node_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// I2: pgmq is upgraded in place while producers emit and nodes handle. Upgrade scripts drop what depends on pgmq's types; nothing of
// Nexus does.
func TestPgmqIsUpgradedUnderLoad(t *testing.T) {
	const from, to = "1.11.1", "1.13.0"
	db := newDB(t)
	if v := dbtest.Get[string](db, `select coalesce((select extversion from pg_extension where extname = 'pgmq'), 'installed from SQL')`); v != from {
		t.Skipf("pgmq is %s here; the upgrade begins at %s", v, from)
	}
	if !dbtest.Get[bool](db, `select exists (select from pg_available_extension_versions where name = 'pgmq' and version = $1)`, to) {
		t.Skipf("this server has no pgmq %s to upgrade to: scripts/pgmq-for-tests", to)
	}
	const ours = `
		select string_agg(p.oid::regprocedure || ' ' || md5(p.prosrc), chr(10) order by p.oid::regprocedure::text)
		  from pg_proc p where p.pronamespace in ('core'::regnamespace, 'core_private'::regnamespace)`
	before := dbtest.Get[string](db, ours)

	for i := range 2 {
		n := node.New(db.Pool, node.Config{Namespace: ns, ID: fmt.Sprintf("node-%d", i), Workers: 2, Retry: quick})
		n.On("*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
		start(t, n)
	}
	var emitted atomic.Int64
	var producers sync.WaitGroup
	ended, end := context.WithCancel(t.Context())
	for range 4 {
		producers.Go(func() {
			for ended.Err() == nil {
				if _, err := (queue.Emitter{Namespace: ns}).Emit(t.Context(), db.Pool, "order.placed", nil, nil); err != nil {
					t.Errorf("emit: %v", err)
					return
				}
				emitted.Add(1)
			}
		})
	}
	handled := func(n int64) { db.Wait(`select count(*) >= $1 from public.effect`, n) }
	handled(200)
	db.Exec(`alter extension pgmq update to '` + to + `'`)
	at := emitted.Load()
	handled(at + 200)
	end()
	producers.Wait()
	db.Wait(queueEmpty)

	if v := dbtest.Get[string](db, `select extversion from pg_extension where extname = 'pgmq'`); v != to {
		t.Errorf("pgmq is %s", v)
	}
	if after := dbtest.Get[string](db, ours); after != before {
		t.Errorf("functions changed:\n%s", strings.Join(missing(before, after), "\n"))
	}
	var events, effects, distinct int64
	row := db.Owner.QueryRow(t.Context(), `select (select count(*) from core.event_log), count(*), count(distinct e.event_uid) from public.effect e`)
	if err := row.Scan(&events, &effects, &distinct); err != nil {
		t.Fatal(err)
	}
	if events != emitted.Load() || effects != events || distinct != events {
		t.Errorf("%d emitted, %d logged, %d effects of %d events", emitted.Load(), events, effects, distinct)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters`); n != 0 {
		t.Errorf("%d dead letters", n)
	}
	db.Namespace("founded-after") // the new version's pgmq.create serves as well
	if _, err := (queue.Emitter{Namespace: "founded-after"}).Emit(t.Context(), db.Pool, "a", nil, nil); err != nil {
		t.Error(err)
	}
}

// missing are the lines of before that after lacks.
func missing(before, after string) []string {
	have := map[string]bool{}
	for l := range strings.Lines(after) {
		have[strings.TrimSpace(l)] = true
	}
	var out []string
	for l := range strings.Lines(before) {
		if !have[strings.TrimSpace(l)] {
			out = append(out, l)
		}
	}
	return out
}
