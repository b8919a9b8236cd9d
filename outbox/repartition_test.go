package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
	"github.com/nexuspg/nexus/queue"
)

// holds: LN3 (lanes cut anew)
// Lanes are cut anew three times while messages come, some of which commit late, and processors lose their connections: each key's messages are
// handled once and in their order, and a transaction that enqueued to lanes of before and commits when these are empty is not lost.
func TestRepartition(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 2, &outbox.QueueOptions{Retry: nexus.RetryPolicy{MaxAttempts: -1, Base: time.Millisecond, Max: 5 * time.Millisecond}})
	for range 2 {
		start(t, db, node.Config{Poll: 20 * time.Millisecond, Lease: time.Second}, outbox.Handle("pay", note))
	}
	late, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := outbox.Enqueue(t.Context(), late, ns, outbox.Message{Queue: "pay", Key: "late", Type: "t", Body: []byte("late 1")}); err != nil {
		t.Fatal(err)
	}
	const keys, each = 4, 40
	did := make(chan struct{}, keys*each)
	var producing sync.WaitGroup
	for k := range keys {
		producing.Go(func() {
			for i := range each {
				m := outbox.Message{Queue: "pay", Key: fmt.Sprint("k", k), Type: "t", Body: fmt.Appendf(nil, "k%d %d", k, i)}
				if _, err := outbox.Enqueue(t.Context(), db.Owner, ns, m); err != nil {
					t.Error(err)
				}
				did <- struct{}{}
			}
		})
	}
	for _, lanes := range []int{7, 1, 5} {
		for range keys * each / 5 {
			<-did
		}
		if cut, err := outbox.Repartition(t.Context(), db.Owner, ns, "pay", lanes); !cut || err != nil {
			t.Fatal(cut, err)
		}
		db.Exec(`select pg_terminate_backend(pid) from pg_stat_activity
			where datname = current_database() and usename <> current_user and query ~ 'fetch_lane|settle_lane|public.effect' order by random() limit 1`)
	}
	producing.Wait()
	db.Wait("select count(*) = $1 from public.effect", keys*each)
	for k := range keys {
		var want []string
		for i := range each {
			want = append(want, fmt.Sprintf("k%d %d", k, i))
		}
		got := dbtest.Get[[]string](db, "select array_agg(body order by n) from public.effect where body like $1 || ' %'", fmt.Sprint("k", k))
		if !slices.Equal(got, want) {
			t.Errorf("key %d: %v", k, got)
		}
	}
	db.Exec("select core.run_sweep('lanes')")
	if left := dbtest.Get[int](db, "select count(distinct generation)::int from core.lane_status"); left == 1 {
		t.Error("the lanes that a transaction may still commit to are gone")
	}
	if err := late.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	enqueueKey(t, db, "late", "late 2")
	db.Wait("select count(*) = $1 from public.effect", keys*each+2)
	if got := dbtest.Get[string](db, "select string_agg(body, ', ' order by n) from public.effect where body like 'late %'"); got != "late 1, late 2" {
		t.Error(got)
	}
	for dbtest.Get[int](db, "select count(distinct generation)::int from core.lane_status") > 1 {
		if t.Context().Err() != nil {
			t.Fatal("lanes of before are left")
		}
		db.Exec("select core.run_sweep('lanes')")
	}
}

func enqueueKey(t *testing.T, db *dbtest.DB, key, body string) {
	t.Helper()
	if _, err := outbox.Enqueue(t.Context(), db.Owner, ns, outbox.Message{Queue: "pay", Key: key, Type: "t", Body: []byte(body)}); err != nil {
		t.Fatal(err)
	}
}

// holds: LN3 (lanes cut anew)
// A lane of before that has halted keeps the new ones waiting, and is what an operator's call means.
func TestRepartitionBehindAHaltedLane(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, &outbox.QueueOptions{Retry: nexus.RetryPolicy{MaxAttempts: 1}, Halt: true})
	enqueue(t, db, "pay", "bad")
	start(t, db, node.Config{Poll: 20 * time.Millisecond}, outbox.Handle("pay", func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
		if string(m.Body) == "bad" {
			return errors.New("no")
		}
		return note(ctx, tx, m)
	}))
	db.Wait("select state = 'halted' from core.lane_status")
	if cut, err := outbox.Repartition(t.Context(), db.Owner, ns, "pay", 2); !cut || err != nil {
		t.Fatal(cut, err)
	}
	enqueue(t, db, "pay", "good")
	if got := dbtest.Get[string](db, "select string_agg(distinct why, ', ' order by why) from core.lane_status"); got != "halted at message 1, waits for the lanes of before" {
		t.Error(got)
	}
	if seq, err := outbox.Skip(t.Context(), db.Owner, ns, "pay", 0, "of no use"); seq != 1 || err != nil {
		t.Fatal(seq, err)
	}
	db.Wait("select count(*) = 1 from public.effect")
}

// holds: LN9 (enqueued again)
// What has ended comes once more, from a time on, each key in its order and to the lanes of now; what waits does not come twice.
func TestReplay(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	db.SetNow(at)
	register(t, db, "pay", 3, nil)
	enqueue(t, db, "pay", "old")
	db.Advance(time.Hour)
	enqueue(t, db, "pay", numbers(5)...)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.Add(outbox.Handle("pay", note))
	work := func(want int) {
		t.Helper()
		if done, err := n.Work(t.Context(), 100); done != want || err != nil {
			t.Fatal(done, err)
		}
	}
	work(6)
	enqueue(t, db, "pay", "waits")
	again, err := outbox.Replay(t.Context(), db.Owner, ns, "pay", at.Add(time.Minute), "once more")
	if again != 5 || err != nil {
		t.Fatal(again, err)
	}
	if n, err := outbox.Replay(t.Context(), db.Owner, ns, "pay", at.Add(time.Minute), "its answer was lost"); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	work(6)
	want := "old " + strings.Join(numbers(5), " ") + " waits " + strings.Join(numbers(5), " ")
	if got := dbtest.Get[string](db, "select string_agg(body, ' ' order by n) from public.effect"); got != want {
		t.Error(got)
	}
	if again, err = outbox.Replay(t.Context(), db.Owner, ns, "pay", time.Time{}, ""); again != 7 || err != nil {
		t.Fatal(again, err)
	}
}

// Who asks again while his first call still runs in the database gets nothing twice either.
// holds: LN9 (replays at once)
func TestReplaysAtOnce(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 2, nil)
	enqueue(t, db, "pay", numbers(3)...)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.Add(outbox.Handle("pay", note))
	if done, err := n.Work(t.Context(), 100); done != 3 || err != nil {
		t.Fatal(done, err)
	}
	open, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = open.Rollback(context.Background()) })
	if again, err := outbox.Replay(t.Context(), open, ns, "pay", time.Time{}, ""); again != 3 || err != nil {
		t.Fatal(again, err)
	}
	type answer struct {
		again int64
		err   error
	}
	second := make(chan answer, 1)
	go func() {
		again, err := outbox.Replay(t.Context(), db.Owner, ns, "pay", time.Time{}, "")
		second <- answer{again, err}
	}()
	db.Wait("select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~ 'outbox_replay')")
	if err := open.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := <-second; a.again != 0 || a.err != nil {
		t.Fatal(a.again, a.err)
	}
}

// A message that comes again as a dead letter is no second one to a replay, which leaves what is dead and not resolved to whoever decides about that.
// holds: LN9 (replays of dead messages)
func TestReplayBesideDeadLetters(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, nil)
	enqueue(t, db, "pay", "bad", "good", "worse")
	good := false
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.Add(outbox.Handle("pay", func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
		if !good && string(m.Body) != "good" {
			return nexus.Reject("no")
		}
		return note(ctx, tx, m)
	}))
	step := func(want string, replayed int64) {
		t.Helper()
		for dbtest.Get[int64](db, "select sum(lag)::bigint from core.lane_status") > 0 {
			if _, err := n.Work(t.Context(), 100); err != nil {
				t.Fatal(err)
			}
		}
		if got := dbtest.Get[string](db, "select coalesce(string_agg(body, ' ' order by n), '') from public.effect"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if again, err := outbox.Replay(t.Context(), db.Owner, ns, "pay", time.Time{}, ""); again != replayed || err != nil {
			t.Error(again, err)
		}
	}
	step("good", 1) // the others are dead
	good = true
	db.Exec("select core.replay_dead_letter(dead_letter_id) from core.dead_letters where convert_from(body, 'UTF8') = 'bad'")
	step("good good bad", 2)
	step("good good bad bad good", 2)
	good = false
	step("good good bad bad good good", 1) // the copy of the bad one is dead
	good = true
	db.Exec("select core.replay_dead_letter(dead_letter_id, '{\"now\": \"mended\"}') from core.dead_letters where convert_from(body, 'UTF8') = 'bad' and status <> 'resolved'")
	step(`good good bad bad good good good {"now": "mended"}`, 2)
	step(`good good bad bad good good good {"now": "mended"} {"now": "mended"} good`, 2)
}

// A queue is not dropped under who has enqueued to it and not committed, nor is its namespace: his message would be lost, and his dedupe key stand for it later.
// holds: LN1 (a queue that is dropped)
func TestDropWaitsForWhoHasEnqueued(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, nil)
	open, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = open.Rollback(context.Background()) })
	message := outbox.Message{Queue: "pay", Key: "k", DedupeKey: "d", Type: "t", Body: []byte("1")}
	if _, err := outbox.Enqueue(t.Context(), open, ns, message); err != nil {
		t.Fatal(err)
	}
	if err := outbox.DropQueue(t.Context(), db.Owner, ns, "pay", false); !errors.Is(err, nexus.ErrConflict) || !strings.Contains(err.Error(), "have not committed: process") {
		t.Fatal(err)
	}
	if err := queue.DropNamespace(t.Context(), db.Owner, ns, ns, false); !errors.Is(err, nexus.ErrConflict) || !strings.Contains(err.Error(), "have not committed: process") {
		t.Fatal(err)
	}
	if err := open.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := outbox.DropQueue(t.Context(), db.Owner, ns, "pay", false); err != nil {
		t.Fatal(err)
	}
}
