package outbox_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/outbox"
)

// smallPartitions has partitions of messages hold so many ids from now on.
func smallPartitions(db *dbtest.DB, ids int) {
	db.Exec(fmt.Sprintf("create or replace function core_private.lane_partition_size() returns bigint language sql immutable set search_path = pg_catalog, pg_temp as 'select %d::bigint'", ids))
}

// enqueuing begins a transaction that enqueues, and returns it with its process.
func enqueuing(t *testing.T, db *dbtest.DB) (tx pgx.Tx, pid string) {
	t.Helper()
	tx, err := db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	if _, err := outbox.Enqueue(t.Context(), tx, ns, outbox.Message{Queue: "pay", Key: "one", Type: "t", Body: []byte("open")}); err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRow(t.Context(), "select pg_backend_pid()::text").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	return tx, pid
}

// holds: LN8 (what keeps one, dropped where somebody always enqueues)
// A full partition is kept by a transaction that may write to it, then by a lane that has not passed it; and each is named. Then its room comes back
// although somebody always enqueues, and it is dropped although none of them lets go by himself.
func TestPartitionsGoWhereSomebodyAlwaysEnqueues(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	smallPartitions(db, 10)
	register(t, db, "pay", 1, nil)
	db.Exec("select core_private.maintain_lanes()")
	// Transactions of other databases keep partitions for a while.
	keptBy := func(pid, want string) {
		t.Helper()
		db.Wait(`select core_private.maintain_lanes() is not null and $2 = (
			select coalesce(string_agg(concat_ws(' ', partition, kind, namespace, queue, lane, pid), ', ' order by partition), 'none')
			  from core.lane_partitions where kind <> 'transaction' or pid = $1::text::int)`, pid, want)
	}
	late, pid := enqueuing(t, db)
	enqueue(t, db, "pay", numbers(24)...)
	keptBy(pid, "lane_messages_p0 transaction "+pid+", lane_messages_p10 transaction "+pid)
	if err := late.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	keptBy(pid, "lane_messages_p0 lane shop pay 0, lane_messages_p10 lane shop pay 0")
	seqs, _, token := fetched(t, db, 50)
	db.Exec(`select core_node.settle_lane(lane_id, 'n', $1::text::uuid, 0, $2, (select max(id) from core_private.lane_messages), 'release') from core.lane_status`, token, len(seqs))

	open, pid := enqueuing(t, db)
	fetched(t, db, 50) // nobody has one in hand, so that the lane has passed them all
	keptBy(pid, "lane_messages_p0 lock "+pid+", lane_messages_p10 lock "+pid)
	db.Wait("select core_private.maintain_lanes() is not null and not exists (select from core.lane_partitions where emptied_at is null or bytes > 100000)")
	if got := dbtest.Get[int](db, "select count(*) from core_private.lane_messages where id <= 19"); got != 0 {
		t.Errorf("%d messages of them are left", got)
	}
	enqueue(t, db, "pay", "25") // who comes meanwhile

	// A try that waits goes before whoever comes after it: that one waits for the try, and not for the end of the transaction that is open.
	waiting := "select exists (select from pg_locks where relation = 'core_private.lane_messages'::regclass and not granted)"
	gone := false
	for i := 0; i < 100 && !gone; i++ {
		db.Exec("update core_private.lane_partitions set tries = 3")
		ended := make(chan error, 1)
		go func() {
			_, err := db.Owner.Exec(t.Context(), "select core_private.maintain_lanes()")
			ended <- err
		}()
		db.Wait("select (" + waiting + ") or exists (select from core_private.lane_partitions where tries <> 3)")
		if i == 0 {
			enqueue(t, db, "pay", "26")
		} else if err := open.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if gone = !dbtest.Get[bool](db, "select exists (select from core_private.lane_partitions where upper <= 20)"); i > 0 && !gone {
			open, _ = enqueuing(t, db) // the try was over before the commit came
		}
	}
	if !gone {
		t.Error("they were never dropped")
	}
	seqs, _, _ = fetched(t, db, 50)
	if len(seqs) < 2 || seqs[0] != 26 {
		t.Errorf("the lane goes on with %v", seqs)
	}
}

// holds: LN8 (ids that run beyond what is made ahead)
// holds: LN8 (by a sweep in a transaction that is older than who writes)
// What was drawn before a partition was full is waited for, also where the transaction of the sweep is the older one: one that is the caller's, or a tick
// that had written before.
func TestPartitionsWaitForWhoIsYoungerThanTheSweep(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	smallPartitions(db, 10)
	register(t, db, "pay", 1, nil)
	db.Exec("select core_private.maintain_lanes()")
	enqueue(t, db, "pay", numbers(7)...)
	sweep, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sweep.Rollback(context.Background()) }()
	if _, err := sweep.Exec(t.Context(), "select pg_current_xact_id()"); err != nil {
		t.Fatal(err)
	}
	open, _ := enqueuing(t, db)
	enqueue(t, db, "pay", numbers(5)...)
	if _, err := sweep.Exec(t.Context(), "select core_private.maintain_lanes()"); err != nil {
		t.Fatal(err)
	}
	if err := sweep.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	pass := func(want int) {
		t.Helper()
		seqs, _, token := fetched(t, db, 50)
		if len(seqs) != want {
			t.Fatalf("there are %d messages, want %d", len(seqs), want)
		}
		db.Exec(`select core_node.settle_lane(lane_id, 'n', $1::text::uuid, $2, $3, (select max(id) from core_private.lane_messages where convert_from(body, 'UTF8') <> 'open'), 'release') from core.lane_status`,
			token, seqs[0]-1, len(seqs))
	}
	pass(12)
	fetched(t, db, 50) // nothing is in hand
	if err := open.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	db.Exec("select core_private.maintain_lanes()")
	if got := dbtest.Get[int](db, "select count(*) from core_private.lane_messages where convert_from(body, 'UTF8') = 'open'"); got != 1 {
		t.Error("what was enqueued by the younger one went with its partition")
	}
	if seqs, _, _ := fetched(t, db, 50); len(seqs) != 1 {
		t.Errorf("the lane has %v, want what was late", seqs)
	}
}

// Who enqueues while partitions are made, and is beyond the last one by the time, goes on: no partition is made for an id that was drawn. And the faster
// they are filled, the more are made.
func TestIdsRunBeyondPartitions(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	smallPartitions(db, 10)
	register(t, db, "pay", 1, nil)
	db.Exec("select core_private.maintain_lanes()")
	upper := dbtest.Get[int64](db, "select max(upper) from core_private.lane_partitions")
	const setval = "select setval('core_private.lane_message_id_seq', $1)"
	db.Exec(setval, upper+100)
	open, _ := enqueuing(t, db) // has the default partition locked
	db.Exec(setval, upper-15)
	made := make(chan error, 1)
	go func() {
		_, err := db.Owner.Exec(t.Context(), "select core_private.make_lane_partitions(4)")
		made <- err
	}()
	const waiting = "select count(*) = $1 from pg_locks where relation = 'core_private.lane_messages_default'::regclass and not granted"
	db.Wait(waiting, 1)
	enqueued := make(chan error, 1)
	go func() {
		_, err := db.Pool.Exec(t.Context(), "select core.outbox_enqueue_batch('shop', 'pay', array_fill('x'::bytea, '{40}'), array_fill('t'::text, '{40}'), array_fill('one'::text, '{40}'))")
		enqueued <- err
	}()
	db.Wait(waiting, 2)
	if err := open.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, end := range map[string]chan error{"making them": made, "enqueuing": enqueued} {
		if err := <-end; err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if n := dbtest.Get[int](db, "select count(*) from core_private.lane_messages"); n != 40 {
		t.Errorf("%d messages", n)
	}

	for _, c := range []struct{ left, want int64 }{{70, 8}, {30, 16}, {-5, 32}} {
		db.Exec(setval, dbtest.Get[int64](db, "select max(upper) from core_private.lane_partitions")-c.left)
		db.Exec("select core_private.maintain_lanes()")
		if got := dbtest.Get[int64](db, "select (max(upper) - pg_sequence_last_value('core_private.lane_message_id_seq')) / 10 from core_private.lane_partitions"); got < c.want || got > c.want+1 {
			t.Errorf("with %d ids left there are %d partitions ahead, want %d", c.left, got, c.want)
		}
	}
}
