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

// Partitions that were emptied and could not be dropped cost a look nothing.
// holds: LN10 (looks)
func TestALookPassesOverEmptiedPartitions(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	s := &laneStory{t: t, db: db, pool: db.Owner}
	s.exec("select core.create_namespace('shop')")
	lane := s.lane("long", "{}")
	enqueue := func(q execs, n int) {
		_, err := q.Exec(t.Context(), "select core.outbox_enqueue_batch('shop', 'long', array_fill('x'::bytea, array[$1::int]), array_fill('t'::text, array[$1::int]), array_fill('k'::text, array[$1::int]))", n)
		s.must(err)
	}
	late, err := db.Owner.Begin(t.Context())
	s.must(err)
	enqueue(late, 1)
	enqueue(db.Owner, 1)
	s.all(lane)
	conn, err := db.Owner.Acquire(t.Context())
	s.must(err)
	defer conn.Release()
	// look is how many indexes of messages a look opens, but for the first one, which makes plans.
	look := func() (opened int) {
		const lanes = "select count(*) from core_node.lanes_due('shop', 'long')"
		_, err := conn.Exec(t.Context(), lanes)
		s.must(err)
		tx, err := conn.Begin(t.Context())
		s.must(err)
		_, err = tx.Exec(t.Context(), lanes)
		s.must(err)
		s.must(tx.QueryRow(t.Context(), "select count(*) from pg_locks l join pg_class c on c.oid = l.relation where l.pid = pg_backend_pid() and c.relkind = 'i' and c.relname ^@ 'lane_messages'").Scan(&opened))
		s.must(tx.Rollback(t.Context()))
		return opened
	}
	s.exec("select core_private.make_lane_partitions(70)")
	s.exec("select setval('core_private.lane_message_id_seq', 60 * core_private.lane_partition_size() + 1)")
	s.must(late.Commit(t.Context()))
	s.want("what commits late", len(s.all(lane)), 1)
	enqueue(db.Owner, 1)
	s.want("what is far beyond", len(s.all(lane)), 1)
	s.exec("update core_private.lane_partitions set emptied_at = core.now() where upper <= 60 * core_private.lane_partition_size()")
	s.exec("update core_private.lanes set done_floor = 0, ver = ver + 1")
	s.want("an id below which nothing is", dbtest.Get[bool](db, "select core_private.lane_messages_from() = 60 * core_private.lane_partition_size()"), true)
	if n := look(); n > 20 {
		t.Errorf("with 60 emptied partitions a look opens %d indexes", n)
	}
	s.exec("update core_private.lane_partitions set emptied_at = null where upper = 30 * core_private.lane_partition_size()")
	s.want("one is not empty", dbtest.Get[bool](db, "select core_private.lane_messages_from() = 29 * core_private.lane_partition_size()"), true)
	s.exec("insert into core_private.lane_messages_default (lane_id, id, xid, body, body_type, created_at) values ($1, 999 * core_private.lane_partition_size(), '3', 'x', 't', core.now())", lane)
	s.want("some are where no partition was", dbtest.Get[int](db, "select core_private.lane_messages_from()"), 0)
}
