package outbox_test

import (
	"context"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
)

type nilError struct{ text string }

func (e *nilError) Error() string { return e.text } // panics on nil

// However a handler of a lane ends, that is a failed attempt with its reason, the process lives on and the messages behind it are handled.
// holds: others-panics (lanes)
func TestHandlersOfLanesThatEndBadly(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	ends := func(m *outbox.Item) error {
		switch string(m.Body) {
		case "panic":
			panic("boom")
		case "exit":
			runtime.Goexit()
		case "nil":
			var e *nilError
			return e
		}
		return nil
	}
	n := node.New(db.Pool, node.Config{Namespace: ns, Logger: slog.New(slog.DiscardHandler)})
	n.Add(outbox.Handle("one", func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
		if string(m.Body) == "read only" {
			_, err := tx.Exec(ctx, "set transaction read only")
			return err
		}
		return ends(m)
	}),
		outbox.HandleLeased("leased", func(_ context.Context, m *outbox.Item) error { return ends(m) }),
		outbox.HandleBatch("batch", func(_ context.Context, _ pgx.Tx, batch []*outbox.Item) error {
			var all []error
			for _, m := range batch {
				if err := ends(m); err != nil {
					all = append(all, err)
				}
			}
			if len(all) > 0 {
				return all[0]
			}
			return nil
		}))
	for _, queue := range []string{"one", "leased", "batch"} {
		register(t, db, queue, 1, &outbox.QueueOptions{Retry: nexus.RetryPolicy{MaxAttempts: 1}})
		enqueue(t, db, queue, "panic", "ok", "exit", "nil", "ok", "read only")
	}
	for dbtest.Get[bool](db, "select exists (select from core.lane_status where seq < 6)") {
		if _, err := n.Work(t.Context(), 100); err != nil {
			t.Fatal(err)
		}
	}
	const want = "batch 1 panic 1, batch 3 panic 1, batch 4 error 1, leased 1 panic 1, leased 3 panic 1, leased 4 error 1, one 1 panic 1, one 3 panic 1, one 4 error 1, one 6 error 1"
	if got := dbtest.Get[string](db, "select string_agg(format('%s %s %s %s', consumer, lane_seq, reason, attempts), ', ' order by consumer, lane_seq) from core.dead_letters"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What a handler does with the batch and the messages that it was lent changes nothing of what is settled.
func TestABatchBelongsToItsHandler(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, nil)
	enqueue(t, db, "pay", numbers(10)...)
	var seen []string
	p := outbox.HandleBatch("pay", func(_ context.Context, _ pgx.Tx, batch []*outbox.Item) error {
		for _, m := range batch {
			seen = append(seen, string(m.Body))
			m.ID, m.Seq, m.Lane = 0, 1000, 7
		}
		slices.Reverse(batch)
		_ = slices.DeleteFunc(batch, func(m *outbox.Item) bool { return string(m.Body) != "5" })
		return nil
	})
	p.Batch = 5
	n := node.New(db.Pool, node.Config{Namespace: ns, Logger: slog.New(slog.DiscardHandler)})
	n.Add(p)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if done, err := n.Work(ctx, 100); err != nil || done != 10 {
		t.Fatalf("%d messages were handled, %v", done, err)
	}
	if want := numbers(10); !slices.Equal(seen, want) {
		t.Errorf("handled were %v, want %v", seen, want)
	}
	if got := dbtest.Get[string](db, "select lag || ' ' || seq from core.lane_status"); got != "0 10" {
		t.Errorf("lag and number of the lane are %s, want 0 10", got)
	}
}

// lines has the messages of warnings.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	select {
	case l <- string(line):
	default:
	}
	return len(line), nil
}

// A queue that somebody drops ends no node: its processor serves it again once it is there again.
func TestADroppedQueueIsWaitedFor(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, nil)
	enqueue(t, db, "pay", "1")
	said := make(lines, 100)
	start(t, db, node.Config{Poll: 10 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(said, nil))}, outbox.Handle("pay", note))
	db.Wait("select exists (select from public.effect)")
	if err := outbox.DropQueue(t.Context(), db.Owner, ns, "pay", true); err != nil {
		t.Fatal(err)
	}
	for line := ""; !strings.Contains(line, "the outbox queue was dropped"); {
		select {
		case line = <-said:
		case <-time.After(time.Minute):
			t.Fatal("the log says nothing of it")
		}
	}
	register(t, db, "pay", 1, nil)
	enqueue(t, db, "pay", "2")
	db.Wait("select string_agg(body, ' ' order by n) = '1 2' from public.effect")
}

// All sessions of a node end while a message is in hand, and with them what would have settled it. The lane does not stand until its lease is
// over, and no attempt was used.
// holds: others-restart (sessions end under a lane)
func TestSessionsEndUnderALane(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]func(cut func()) *outbox.Processor{
		"transactional": func(cut func()) *outbox.Processor {
			return outbox.Handle("pay", func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
				cut()
				return note(ctx, tx, m)
			})
		},
		"at its commit": func(cut func()) *outbox.Processor {
			return outbox.Handle("pay", func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
				err := note(ctx, tx, m)
				if string(m.Body) == "y" { // the last one
					cut()
				}
				return err
			})
		},
		"leased": func(cut func()) *outbox.Processor {
			return outbox.HandleLeased("pay", func(_ context.Context, m *outbox.Item) error {
				cut()
				if m.Attempt > 1 {
					return nexus.Reject("a second attempt")
				}
				return nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			register(t, db, "pay", 1, &outbox.QueueOptions{Retry: nexus.RetryPolicy{MaxAttempts: 1}})
			enqueue(t, db, "pay", "x", "y")
			p := made(sync.OnceFunc(func() {
				db.Exec("select pg_terminate_backend(pid) from pg_stat_activity where usename = $1 and datname = current_database()", dbtest.Login)
			}))
			p.Lease = 12 * time.Hour
			start(t, db, node.Config{Poll: 20 * time.Millisecond}, p)
			db.Wait("select seq = 2 from core.lane_status")
			want := "x1 y1"
			if name == "leased" {
				want = ""
			}
			if got := dbtest.Get[string](db, "select coalesce(string_agg(body || attempt, ' ' order by n), '') from public.effect"); got != want {
				t.Errorf("effects %s", got)
			}
			if n := dbtest.Get[int](db, "select count(*)::int from core.dead_letters"); n != 0 {
				t.Errorf("%d dead letters", n)
			}
		})
	}
}

// A message at which the session ends each time is given back a few times, as for a server that is restarted, and then it has failed.
// holds: others-restart (not for ever)
func TestAMessageThatAlwaysEndsItsSession(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, &outbox.QueueOptions{Retry: nexus.RetryPolicy{MaxAttempts: 1}})
	enqueue(t, db, "pay", "good", "bad", "more")
	var calls atomic.Int64
	p := outbox.HandleBatch("pay", func(ctx context.Context, tx pgx.Tx, batch []*outbox.Item) error {
		calls.Add(1)
		for _, m := range batch {
			if err := note(ctx, tx, m); err != nil {
				return err
			}
			if string(m.Body) == "bad" {
				db.Exec("select pg_terminate_backend($1)", tx.Conn().PgConn().PID())
			}
		}
		return nil
	})
	p.Lease = 12 * time.Hour
	start(t, db, node.Config{Poll: 20 * time.Millisecond}, p)
	const released = `select bool_or(seq = 3 or next_at > core.now()) from core_private.lanes where ver = (select max(ver) from core_private.lanes)`
	for db.Wait(released); !dbtest.Get[bool](db, "select seq = 3 from core.lane_status"); db.Wait(released) {
		db.Advance(2 * time.Second)
	}
	if got := dbtest.Get[string](db, "select string_agg(format('%s %s', lane_seq, attempts), ', ') from core.dead_letters"); got != "2 1" {
		t.Errorf("dead letters: %s after %d calls", got, calls.Load())
	}
	if got := dbtest.Get[string](db, inOrder); got != "good more" || calls.Load() < 10 {
		t.Errorf("%d calls, effects %s", calls.Load(), got)
	}
}

// A handler that ignores the end of its context holds up the exit no longer than the grace time and a moment, and its lane goes on elsewhere at once.
// holds: others-stuck (lanes)
func TestAStuckMessageDoesNotHoldUpTheExit(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	began, forever := make(chan struct{}, 2), make(chan struct{})
	defer close(forever)
	hang := func(m *outbox.Item) error {
		began <- struct{}{}
		<-forever
		return nil
	}
	tx := outbox.Handle("tx", func(_ context.Context, _ pgx.Tx, m *outbox.Item) error { return hang(m) })
	leased := outbox.HandleLeased("leased", func(_ context.Context, m *outbox.Item) error { return hang(m) })
	for _, p := range []*outbox.Processor{tx, leased} {
		p.Lease = time.Hour
	}
	for _, queue := range []string{"tx", "leased"} {
		register(t, db, queue, 1, quick)
		enqueue(t, db, queue, "x")
	}
	stop := start(t, db, node.Config{Grace: 50 * time.Millisecond}, tx, leased)
	<-began
	<-began
	at := time.Now()
	stop()
	if took := time.Since(at); took > 10*time.Second {
		t.Errorf("the exit took %s", took)
	}
	start(t, db, node.Config{Poll: 20 * time.Millisecond}, outbox.Handle("tx", note), outbox.Handle("leased", note))
	db.Wait("select bool_and(seq = 1) from core.lane_status")
}
