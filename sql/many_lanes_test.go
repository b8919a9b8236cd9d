package nexussql_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// pagesOf is how many pages a statement reads.
func pagesOf(t *testing.T, db *dbtest.DB, sql string, args ...any) int {
	t.Helper()
	var plans []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	raw := dbtest.Get[string](db, "explain (analyze, buffers, format json) "+sql, append([]any{pgx.QueryExecModeSimpleProtocol}, args...)...)
	if err := json.Unmarshal([]byte(raw), &plans); err != nil {
		t.Fatal(err)
	}
	return plans[0].Plan.Hit + plans[0].Plan.Read
}

// holds: LN10 (many lanes)
// Of 4,096 lanes those that have work are found by what came since all were looked at, and not by asking each: also a message that commits late, and a
// lane that was paused, or had something in hand.
func TestALookAtManyLanesReadsLittle(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	s := &laneStory{t: t, db: db, pool: db.Owner}
	s.exec("select core.create_namespace('shop')")
	s.exec("select core.outbox_register_queue('shop', 'wide', 4096)")
	key := func(lane int) string {
		return dbtest.Get[string](db, "select k from (select 'k' || g as k from generate_series(1, 100000) g) x where (core_private.lanes_of_keys(array[k], 4096))[1] = $1 limit 1", lane)
	}
	keys := map[int]string{7: key(7), 8: key(8), 9: key(9), 10: key(10)}
	enqueue := func(q execs, lane int) {
		_, err := q.Exec(t.Context(), "select core.outbox_enqueue('shop', 'wide', 'x', 't', $1)", keys[lane])
		s.must(err)
	}
	due := func() []int {
		return dbtest.Get[[]int](db, "select coalesce(array_agg(lane order by lane), '{}') from core_node.lanes_due('shop', 'wide')")
	}
	want := func(what string, lanes ...int) {
		t.Helper()
		if got := due(); !slices.Equal(got, lanes) {
			t.Errorf("%s: lanes %v are due, want %v", what, got, lanes)
		}
	}
	id := func(lane int) int32 {
		return dbtest.Get[int32](db, "select lane_id from core_private.consumer_lanes where lane = $1", lane)
	}

	late, err := db.Owner.Begin(t.Context())
	s.must(err)
	enqueue(late, 7)
	enqueue(db.Owner, 8)
	s.exec("select core.lane_pause('shop', 'wide', 10)")
	enqueue(db.Owner, 10)
	want("when all were looked at", 8)
	enqueue(db.Owner, 9)
	want("what came since", 8, 9)
	s.must(late.Commit(t.Context()))
	want("what has committed late", 7, 8, 9)
	s.exec("select core.lane_resume('shop', 'wide', 10)")
	want("what was paused", 7, 8, 9, 10)
	for _, lane := range []int{7, 9, 10} {
		s.all(id(lane))
	}
	s.fetch(id(8))
	want("what is held, and what has ended")
	if n := pagesOf(t, db, "select * from core_node.lanes_due('shop', 'wide')"); n > 400 {
		t.Errorf("a look reads %d pages", n)
	}
	db.Advance(time.Minute)
	s.all(id(8))
	// More than is asked about anew each time; lane 8 waits for its second attempt.
	s.exec("select count(*) from generate_series(1, 3), core.outbox_enqueue_batch('shop', 'wide', array_fill('x'::bytea, '{2000}'), array_fill('t'::text, '{2000}'), array_fill($1::text, '{2000}'))", keys[7])
	want("after many", 7)
	if n := dbtest.Get[int](db, "select cardinality(lane_ids) from core_private.lane_looks"); n != 2 {
		t.Errorf("%d lanes have work by the last look at all", n)
	}
	if n := pagesOf(t, db, "select * from core_node.lanes_due('shop', 'wide')"); n > 400 {
		t.Errorf("a look reads %d pages", n)
	}
	tx, err := db.Owner.Begin(t.Context())
	s.must(err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = tx.Exec(t.Context(), "set local track_functions = 'all'")
	s.must(err)
	var lag, calls int
	s.must(tx.QueryRow(t.Context(), "select sum(lag) from core.lane_status").Scan(&lag))
	s.must(tx.QueryRow(t.Context(), "select sum(calls) from pg_stat_xact_user_functions where schemaname = 'core_private'").Scan(&calls))
	if lag != 2001 || calls > 100 {
		t.Errorf("%d calls of functions say how far 4,096 lanes are, and that %d messages wait", calls, lag)
	}
	if n := pagesOf(t, db, "select core_private.lanes_sample('shop')"); n > 60000 {
		t.Errorf("a sample of metrics reads %d pages", n)
	}
}
