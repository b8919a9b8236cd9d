package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/workflow"
)

type order struct {
	SKU   string
	Cents int
}

type run = workflow.Run[order]

type approval struct{ By string }

// steps of the journal of a run, in order.
func journal(t *testing.T, db *dbtest.DB, id uuid.UUID) string {
	t.Helper()
	return dbtest.Get[string](db, `select coalesce(string_agg(key || case status when 'c' then '' else '!' || status::text end, ' ' order by ord, key), '')
		from core_private.workflow_journal where run_id = $1`, id)
}

// everything is a workflow with each kind of step.
func everything(db *dbtest.DB) (*workflow.Workflow[order, string], *workflow.Workflow[int, int]) {
	half := workflow.New[int, int]("half")
	halve := workflow.Step(half, "halve", func(_ context.Context, r *workflow.Run[int]) (int, error) { return r.Input / 2, nil })
	half.Returns(func(r *workflow.Run[int]) (int, error) { return halve.Result(r), nil })

	w := workflow.New[order, string]("everything")
	w.Retry = quick
	tx := workflow.TxStep(w, "tx", func(ctx context.Context, tx pgx.Tx, r *run) (int, error) {
		return 7, note(ctx, tx, r.ID, r.Step, r.Attempt)
	})
	step := workflow.Step(w, "step", func(ctx context.Context, r *run) (string, error) {
		return fmt.Sprintf("%s %d", r.Input.SKU, tx.Result(r)), note(ctx, db.Pool, r.ID, r.Step, r.Attempt)
	})
	workflow.Sleep(w, "nap", time.Millisecond)
	workflow.SleepUntil(w, "until", func(r *run) time.Time { return r.StartedAt.Add(-time.Hour) })
	asked := workflow.WaitForSignal[approval](w, "approved", 0)
	p := workflow.Parallel(w, "both")
	left := workflow.Step(p, "left", func(ctx context.Context, r *run) (int, error) { return 1, note(ctx, db.Pool, r.ID, r.Step, r.Attempt) })
	q := workflow.Sequence(p, "right")
	workflow.TxStep(q, "right-a", func(ctx context.Context, tx pgx.Tx, r *run) (int, error) { return 2, nil })
	right := workflow.TxStep(q, "right-b", func(ctx context.Context, tx pgx.Tx, r *run) (int, error) { return 3, nil })
	squares := workflow.Map(w, "squares", 2, func(r *run) ([]int, error) { return []int{1, 2, 3, 4, 5}, nil },
		func(ctx context.Context, r *run, n int) (int, error) { return n * n, nil })
	of := workflow.Route(w, "way", func(r *run) (string, error) { return "long", nil })
	workflow.Step(of("short"), "short", func(ctx context.Context, r *run) (int, error) { return 0, errors.New("not taken") })
	taken := workflow.Step(of("long"), "long", func(ctx context.Context, r *run) (int, error) { return right.Result(r), nil })
	var count *workflow.StepRef[order, int]
	l := workflow.Loop(w, "thrice", 5, func(r *run) (bool, error) { return count.Result(r) == 3, nil })
	count = workflow.Step(l, "count", func(ctx context.Context, r *run) (int, error) {
		if r.Turn > 1 && count.Result(r) != r.Turn-1 {
			return 0, fmt.Errorf("turn %d sees %d", r.Turn, count.Result(r))
		}
		return r.Turn, nil
	})
	halved := workflow.Child(w, "kid", half, func(r *run) (int, error) { return r.Input.Cents, nil })
	w.Returns(func(r *run) (string, error) {
		return fmt.Sprintf("%s %s %d %d %d %d %d", step.Result(r), asked.Result(r).By, left.Result(r), squares.Result(r), taken.Result(r), count.Result(r),
			halved.Result(r)), nil
	})
	return w, half
}

// holds: W1, W2, W6, W7, W8, W9
// Each kind of step, and its result.
func TestEverything(t *testing.T) {
	leaks(t)
	db := newDB(t)
	w, half := everything(db)
	stop := start(t, db, node.Config{}, w, half)
	id := begin(t, db, w, order{SKU: "tea", Cents: 90}, nil)
	db.Wait(`select exists (select from core_private.workflow_cursors where run_id = $1 and state = 'W')`, id)
	if got, err := workflow.Signal(t.Context(), db.Pool, id, "approved", approval{By: "ann"}); err != nil || got != workflow.Stored {
		t.Fatal(got, err)
	}
	out, err := await(t, db, w, id)
	if want := "tea 7 ann 1 [1 4 9 16 25] 3 3 45"; err != nil || out != want {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
	want := "tx step nap until approved both left right-a right-b squares squares#0 squares#1 squares#2 squares#3 squares#4 way long " +
		"thrice#1 count#1 thrice#2 count#2 thrice#3 count#3 kid"
	if got := journal(t, db, id); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := dbtest.Get[string](db, inOrder); got != "tx step left" {
		t.Errorf("effects %s", got)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core_private.workflow_cursors`); n != 0 {
		t.Errorf("%d cursors are left", n)
	}
	if got, err := workflow.Signal(t.Context(), db.Pool, id, "approved", nil); err != nil || got != workflow.AlreadyFinished {
		t.Error(got, err)
	}
	if got, err := workflow.Cancel(t.Context(), db.Owner, uuid.New(), true, ""); err != nil || got != workflow.NotFound {
		t.Error(got, err)
	}
	stop()
}

// holds: W1
func TestStart(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, int]("w")
	workflow.Step(w, "a", func(context.Context, *run) (int, error) { return 1, nil })
	if _, _, err := w.Start(t.Context(), db.Pool, ns, order{}, nil); !errors.Is(err, nexus.ErrNotFound) {
		t.Errorf("a workflow that nobody has registered: %v", err)
	}
	start(t, db, node.Config{}, w)
	tx, err := db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rolled, _, err := w.Start(t.Context(), tx, ns, order{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = tx.Rollback(t.Context())
	opts := &workflow.StartOptions{IdempotencyKey: "k", Tags: []string{"a"}}
	first := begin(t, db, w, order{SKU: "x"}, opts)
	again, started, err := w.Start(t.Context(), db.Pool, ns, order{SKU: "x"}, opts)
	if err != nil || started || again != first {
		t.Errorf("the same key again: %v %v %v", again, started, err)
	}
	if _, _, err := w.Start(t.Context(), db.Pool, ns, order{SKU: "y"}, opts); !errors.Is(err, nexus.ErrConflict) {
		t.Errorf("another input: %v", err)
	}
	if _, err := await(t, db, w, first); err != nil {
		t.Error(err)
	}
	if _, err := await(t, db, w, rolled); !errors.Is(err, nexus.ErrNotFound) {
		t.Errorf("of a transaction that was rolled back: %v", err)
	}
	bad := workflow.New[order, int]("bad")
	workflow.Step(bad, "a", func(context.Context, *run) (int, error) { return 1, nil })
	workflow.Step(bad, "a", func(context.Context, *run) (int, error) { return 1, nil })
	n := newNode(db, node.Config{})
	n.Add(bad)
	if err := n.Run(t.Context()); err == nil || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("two steps of one name: %v", err)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core_private.workflow_definitions where name = 'bad'`); n != 0 {
		t.Error("it was registered")
	}
}

// holds: W3
// Ten claims at once; fails, fails, succeeds.
func TestRetries(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, int]("w")
	var calls, at atomic.Int64
	s := workflow.Step(w, "a", func(ctx context.Context, r *run) (int, error) {
		calls.Add(1)
		if err := note(ctx, db.Pool, r.ID, r.IdempotencyKey(), r.Attempt); err != nil {
			return 0, err
		}
		if at.Add(1) != int64(r.Attempt) {
			return 0, nexus.Reject("attempts are miscounted")
		}
		switch r.Attempt {
		case 1:
			return 0, errors.New("no")
		case 2:
			panic("no")
		}
		return r.Attempt, nil
	})
	s.Retry = nexus.RetryPolicy{MaxAttempts: 3, Base: 50 * time.Millisecond, Jitter: -1}
	w.Returns(func(r *run) (int, error) { return s.Result(r), nil })
	for range 5 {
		start(t, db, node.Config{}, w)
	}
	id := begin(t, db, w, order{}, nil)
	if out, err := await(t, db, w, id); err != nil || out != 3 || calls.Load() != 3 {
		t.Errorf("%d after %d calls: %v", out, calls.Load(), err)
	}
	got := dbtest.Get[string](db, `select string_agg(attempt || case when d >= 1 then ' in time' else ' early' end, ', ' order by n) from (
		select n, attempt, coalesce(extract(epoch from at - lag(at) over (order by n)) / (0.05 * 2 ^ (attempt - 2)), 1) as d from public.effect) e`)
	if got != "1 in time, 2 in time, 3 in time" {
		t.Errorf("delays of 50 and 100 ms: %s", got)
	}
	if keys := dbtest.Get[int](db, `select count(distinct what)::int from public.effect`); keys != 1 {
		t.Errorf("%d idempotency keys", keys)
	}
}

// holds: W3, W4, W12
// What a step may answer, and how the run ends.
func TestAnswers(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec("update core.namespaces set max_payload_bytes = 4096")
	var released atomic.Bool
	w := workflow.New[string, any]("w")
	w.Retry = quick
	answer := func(r *workflow.Run[string]) (any, error) {
		switch r.Input {
		case "reject":
			return nil, nexus.Reject("declined")
		case "release":
			if released.CompareAndSwap(false, true) {
				return nil, nexus.Release(0)
			}
			return r.Attempt, nil
		case "retry":
			if r.Attempt == 1 {
				return nil, nexus.Retry(time.Millisecond)
			}
			return r.Attempt, nil
		case "fail":
			return nil, errors.New("no")
		case "exit":
			runtime.Goexit()
		case "nan":
			return math.NaN(), nil
		case "channel":
			return make(chan int), nil
		case "big":
			return strings.Repeat("x", 5000), nil
		}
		return r.Input, nil
	}
	s := workflow.Step(w, "a", func(_ context.Context, r *workflow.Run[string]) (any, error) { return answer(r) })
	w.Returns(func(r *workflow.Run[string]) (any, error) {
		if r.Input == "bad end" {
			return nil, nexus.Reject("no end")
		}
		return s.Result(r), nil
	})
	x := workflow.New[string, any]("x")
	x.Retry = quick
	sx := workflow.TxStep(x, "a", func(_ context.Context, _ pgx.Tx, r *workflow.Run[string]) (any, error) { return answer(r) })
	x.Returns(func(r *workflow.Run[string]) (any, error) { return sx.Result(r), nil })
	start(t, db, node.Config{}, w, x)
	for _, flow := range []*workflow.Workflow[string, any]{w, x} {
		released.Store(false)
		for in, want := range map[string]string{
			"fine": "fine", "release": "1", "retry": "2", "reject": "failed a declined", "fail": "failed a error", "exit": "failed a panic",
			"nan": "failed a result", "channel": "failed a result", "big": "failed a result", "bad end": "failed returns no end",
		} {
			if flow == x && in == "bad end" {
				continue
			}
			out, err := await(t, db, flow, begin(t, db, flow, in, nil))
			got := fmt.Sprint(out)
			if e, ok := errors.AsType[*workflow.RunError](err); ok {
				got = fmt.Sprint(e.Status, " ", e.Step, " ", e.Reason)
			} else if err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("%s of %s: %.300s, want %s", in, flow.Name(), got, want)
			}
		}
	}
	attempts := dbtest.Get[string](db, `select string_agg(distinct format('%s %s', r.input #>> '{}', j.attempts), ', ')
		from core_private.workflow_journal j join core_private.workflow_runs r using (run_id) where r.input #>> '{}' in ('fail', 'nan', 'reject')`)
	if attempts != "fail 3, nan 1, reject 1" {
		t.Errorf("attempts: %s", attempts)
	}
}

// holds: W2
// What a TxStep wrote is there once, or not at all; what it must not do to the transaction fails it.
func TestTxStep(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[string, int]("w")
	w.Retry = quick
	workflow.TxStep(w, "a", func(ctx context.Context, tx pgx.Tx, r *workflow.Run[string]) (int, error) {
		if err := note(ctx, tx, r.ID, r.Input, r.Attempt); err != nil {
			return 0, err
		}
		switch r.Input {
		case "twice":
			if r.Attempt == 1 {
				return 0, errors.New("no")
			}
		case "commits":
			return 0, tx.Commit(ctx)
		case "swallows":
			_, _ = tx.Exec(ctx, "select 1/0")
		}
		return 1, nil
	})
	start(t, db, node.Config{}, w)
	for in, want := range map[string]string{"once": "", "twice": "", "commits": "failed", "swallows": "failed"} {
		_, err := await(t, db, w, begin(t, db, w, in, nil))
		got := ""
		if e, ok := errors.AsType[*workflow.RunError](err); ok {
			got = e.Status
		}
		if got != want {
			t.Errorf("%s: %v", in, err)
		}
	}
	if got := dbtest.Get[string](db, `select string_agg(what || attempt, ' ' order by what, n) from public.effect`); got != "once1 twice2" {
		t.Errorf("effects: %s", got)
	}
}

// holds: W2
// A session that ends while a step commits is no failure of the step: it has one attempt, and takes it again.
func TestASessionEndsInACommit(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec(`create sequence public.commits; grant all on public.commits to public;
		create function public.cut() returns trigger language plpgsql as $$ begin
			if nextval('public.commits') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if;
			return null;
		end $$;
		create constraint trigger cut after insert on public.effect deferrable initially deferred for each row execute function public.cut()`)
	w := workflow.New[order, int]("w")
	s := workflow.TxStep(w, "a", func(ctx context.Context, tx pgx.Tx, r *run) (int, error) {
		return r.Attempt, note(ctx, tx, r.ID, r.Step, r.Attempt)
	})
	s.Retry.MaxAttempts = 1
	w.Returns(func(r *run) (int, error) { return s.Result(r), nil })
	start(t, db, node.Config{}, w)
	id := begin(t, db, w, order{}, nil)
	db.Wait(`select last_value = 1 and is_called from public.commits`)
	if out, err := await(t, db, w, id); err != nil || out != 1 {
		t.Error(out, err)
	}
	if got := dbtest.Get[string](db, inOrder); got != "a" {
		t.Errorf("effects %s", got)
	}
}

const told nexus.EventType[int] = "told"

// What steps emit says which run it comes from, and how deep it is.
func TestEffectsAreTraced(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, int]("w")
	bus := queue.Emitter{Namespace: ns}
	workflow.Step(w, "a", func(ctx context.Context, r *run) (int, error) {
		_, err := queue.EmitT(ctx, db.Pool, bus, told, 1, nil)
		return 1, err
	})
	workflow.TxStep(w, "b", func(ctx context.Context, tx pgx.Tx, r *run) (int, error) {
		_, err := queue.EmitT(ctx, tx, bus, told, 2, nil)
		return 1, err
	})
	start(t, db, node.Config{}, w)
	id := begin(t, db, w, order{}, &workflow.StartOptions{CorrelationID: "it's \\ one"})
	if _, err := await(t, db, w, id); err != nil {
		t.Fatal(err)
	}
	got := dbtest.Get[string](db, `select string_agg(format('%s %s %s', payload, causation_uid = $1, correlation_id), ', ' order by event_id) from core.event_log`, id)
	if got != `1 t it's \ one, 2 t it's \ one` {
		t.Error(got)
	}
}

// holds: W6
// A thousand runs that sleep hold no goroutine, and wake when the clock of the database says so.
// holds: others-stuck (a sleep is no work)
func TestSleepers(t *testing.T) {
	db := newDB(t)
	w := workflow.New[order, int]("w")
	var woken atomic.Int64
	workflow.Sleep(w, "night", 10*365*24*time.Hour)
	workflow.Step(w, "a", func(context.Context, *run) (int, error) { return int(woken.Add(1)), nil })
	start(t, db, node.Config{}, w)
	idle := runtime.NumGoroutine()
	db.Exec(`select core.start_workflow($1, 'w', '{}') from generate_series(1, 1000)`, ns)
	db.Wait(`select count(*) = 1000 from core_private.workflow_cursors where state = 'T'`)
	for began := time.Now(); runtime.NumGoroutine() > idle+20 && time.Since(began) < 10*time.Second; {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > idle+20 {
		t.Errorf("%d goroutines, and %d before", n, idle)
	}
	if woken.Load() != 0 {
		t.Error("somebody is awake")
	}
	db.Advance(10*365*24*time.Hour + time.Second)
	db.Wait(`select count(*) = 1000 from core_private.workflow_runs where status = 'completed'`)
	if woken.Load() != 1000 {
		t.Errorf("%d have woken", woken.Load())
	}
}

// holds: W7
// Of two signals of one name one is taken and one kept; one that came first is not lost; who waits in vain goes on after the timeout.
// holds: others-signals
func TestSignals(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, string]("w")
	first := workflow.WaitForSignal[approval](w, "first", 0)
	late := workflow.WaitForSignal[int](w, "late", time.Hour)
	w.Returns(func(r *run) (string, error) { return fmt.Sprint(first.Result(r).By, " ", late.Result(r) == nil), nil })
	start(t, db, node.Config{}, w)
	id := begin(t, db, w, order{}, &workflow.StartOptions{Delay: time.Hour})
	for _, by := range []string{"ann", "bob"} {
		if got, err := workflow.Signal(t.Context(), db.Pool, id, "first", approval{by}); err != nil || got != workflow.Stored {
			t.Fatal(got, err)
		}
	}
	db.Advance(time.Hour)
	db.Wait(`select exists (select from core_private.workflow_cursors where waiting_for = 'late')`)
	db.Advance(2 * time.Hour)
	if out, err := await(t, db, w, id); err != nil || out != "ann true" {
		t.Errorf("%q %v", out, err)
	}
	if kept := dbtest.Get[int](db, `select count(*)::int from core_private.workflow_signals where consumed_at is null`); kept != 1 {
		t.Errorf("%d signals are kept", kept)
	}
}

// holds: W7 (signals that do not decode)
// Whoever reads a signal of another shape is told so, as of an input, and not that the step had a panic.
func TestASignalThatDoesNotDecode(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, string]("w")
	approved := workflow.WaitForSignal[approval](w, "approved", 0)
	workflow.Step(w, "ship", func(_ context.Context, r *run) (string, error) { return approved.Result(r).By, nil }).Retry = nexus.RetryPolicy{MaxAttempts: 1}
	start(t, db, node.Config{}, w)
	id := begin(t, db, w, order{}, nil)
	if _, err := workflow.Signal(t.Context(), db.Pool, id, "approved", 7); err != nil {
		t.Fatal(err)
	}
	_, err := await(t, db, w, id)
	if e, ok := errors.AsType[*workflow.RunError](err); !ok || e.Reason != "decode" || strings.Contains(err.Error(), "goroutine") || !strings.Contains(err.Error(), `step "ship" reads the result of "approved"`) {
		t.Error(err)
	}
}

// holds: W8
// A Map of many items runs each once, no more at once than it may, and its results are in order.
func TestMap(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	items := 1000
	if long() {
		items = 10_000
	}
	w := workflow.New[int, int]("w")
	var now, most, calls atomic.Int64
	m := workflow.Map(w, "m", 8, func(r *workflow.Run[int]) ([]int, error) {
		all := make([]int, r.Input)
		for i := range all {
			all[i] = i * 3
		}
		return all, nil
	}, func(_ context.Context, _ *workflow.Run[int], n int) (int, error) {
		calls.Add(1)
		for at := now.Add(1); at > most.Load(); {
			most.Store(at)
		}
		now.Add(-1)
		return n + 1, nil
	})
	w.Returns(func(r *workflow.Run[int]) (int, error) {
		for i, n := range m.Result(r) {
			if n != 3*i+1 {
				return 0, nexus.Reject(fmt.Sprintf("item %d has %d", i, n))
			}
		}
		return len(m.Result(r)), nil
	})
	start(t, db, node.Config{}, w)
	if out, err := await(t, db, w, begin(t, db, w, items, nil)); err != nil || out != items || calls.Load() != int64(items) || most.Load() > 8 {
		t.Errorf("%d items, %d calls, %d at once: %v", out, calls.Load(), most.Load(), err)
	}
	if out, err := await(t, db, w, begin(t, db, w, 0, nil)); err != nil || out != 0 {
		t.Errorf("of no items: %d %v", out, err)
	}
}

// A result that is not there fails the step that reads it, with both names: of a step that comes later, and of one in a block that was not taken.
func TestAResultThatIsNotThere(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[string, int]("w")
	w.Retry = nexus.RetryPolicy{MaxAttempts: 1}
	var late, other *workflow.StepRef[string, int]
	workflow.Step(w, "early", func(_ context.Context, r *workflow.Run[string]) (int, error) {
		if r.Input == "late" {
			return late.Result(r), nil
		}
		return 1, nil
	})
	of := workflow.Route(w, "way", func(*workflow.Run[string]) (string, error) { return "one", nil })
	workflow.Step(of("one"), "taken", func(context.Context, *workflow.Run[string]) (int, error) { return 1, nil })
	other = workflow.Step(of("two"), "other", func(context.Context, *workflow.Run[string]) (int, error) { return 2, nil })
	late = workflow.Step(w, "late", func(_ context.Context, r *workflow.Run[string]) (int, error) {
		if r.Input == "asks" && !other.Done(r) {
			return 3, nil
		}
		return other.Result(r), nil
	})
	start(t, db, node.Config{}, w)
	for in, want := range map[string]string{"late": `step "early" reads the result of "late"`, "other": `step "late" reads the result of "other"`, "asks": ""} {
		_, err := await(t, db, w, begin(t, db, w, in, nil))
		if e, ok := errors.AsType[*workflow.RunError](err); ok != (want != "") || ok && !strings.Contains(e.Text, want) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// holds: W8
// A Map may be a branch, also in a loop.
func TestAMapIsABranch(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[int, []int]("w")
	p := workflow.Parallel(workflow.Loop(w, "l", 2, func(r *workflow.Run[int]) (bool, error) { return r.Turn == 2, nil }), "p")
	m := workflow.Map(p, "m", 2, func(r *workflow.Run[int]) ([]int, error) { return []int{r.Turn, 7, 8}, nil },
		func(_ context.Context, _ *workflow.Run[int], n int) (int, error) { return n + 1, nil })
	workflow.Map(p, "none", 2, func(*workflow.Run[int]) ([]int, error) { return nil, nil },
		func(context.Context, *workflow.Run[int], int) (int, error) { return 0, errors.New("there is nothing") })
	w.Returns(func(r *workflow.Run[int]) ([]int, error) { return m.Result(r), nil })
	start(t, db, node.Config{}, w)
	id := begin(t, db, w, 0, nil)
	if out, err := await(t, db, w, id); err != nil || fmt.Sprint(out) != "[3 8 9]" {
		t.Error(out, err)
	}
	if got := journal(t, db, id); got != "l#1 p#1 m#1 m#1#0 m#1#1 m#1#2 none#1 l#2 p#2 m#2 m#2#0 m#2#1 m#2#2 none#2" {
		t.Errorf("journal %s", got)
	}
}

// holds: W8
// A branch that fails for good drops those that have not begun and lets those under way settle; a retried run does only what failed again.
func TestAFailingBranch(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, int]("w")
	w.Retry = quick
	var mended atomic.Bool
	slow := make(chan struct{})
	did := func(ctx context.Context, r *run) (int, error) { return 1, note(ctx, db.Pool, r.ID, r.Step, r.Attempt) }
	p := workflow.Parallel(w, "p")
	workflow.Step(p, "bad", func(ctx context.Context, r *run) (int, error) {
		if !mended.Load() {
			return 0, nexus.Reject("broken")
		}
		return did(ctx, r)
	})
	workflow.Step(p, "slow", func(ctx context.Context, r *run) (int, error) {
		<-slow
		return did(ctx, r)
	})
	workflow.Step(w, "after", did)
	start(t, db, node.Config{}, w)
	id := begin(t, db, w, order{}, nil)
	db.Wait(`select exists (select from core_private.workflow_journal where run_id = $1 and key = 'bad' and status = 'f')`, id)
	if open := dbtest.Get[bool](db, `select status = 'open' from core_private.workflow_runs where run_id = $1`, id); !open {
		t.Error("the run ended before the branch under way did")
	}
	close(slow)
	_, err := await(t, db, w, id)
	if e, ok := errors.AsType[*workflow.RunError](err); !ok || e.Reason != "broken" || e.Step != "bad" {
		t.Fatalf("%v", err)
	}
	mended.Store(true)
	if resumed, err := workflow.Retry(t.Context(), db.Owner, id); err != nil || !resumed {
		t.Fatal(resumed, err)
	}
	if _, err := await(t, db, w, id); err != nil {
		t.Fatal(err)
	}
	if got := dbtest.Get[string](db, inOrder); got != "slow bad after" {
		t.Errorf("effects %s", got)
	}
}

// holds: W8
func TestChoices(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[string, int]("w")
	var asked atomic.Int64
	r := workflow.Route(w, "r", func(r *workflow.Run[string]) (string, error) {
		asked.Add(1)
		return r.Input, nil
	})
	l := workflow.Loop(r("loop"), "l", 3, func(*workflow.Run[string]) (bool, error) { return false, nil })
	workflow.Step(l, "a", func(context.Context, *workflow.Run[string]) (int, error) { return 1, nil })
	start(t, db, node.Config{}, w)
	for in, want := range map[string]string{"loop": "l loop_exhausted", "elsewhere": "r unknown_route"} {
		_, err := await(t, db, w, begin(t, db, w, in, nil))
		if e, ok := errors.AsType[*workflow.RunError](err); !ok || e.Step+" "+e.Reason != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	if asked.Load() != 2 {
		t.Errorf("asked %d times", asked.Load())
	}
}

// holds: W9
// A child that fails fails its step, which is retried with another child; one that is cancelled goes with its parent.
// holds: others-children
func TestChildren(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	var calls atomic.Int64
	c := workflow.New[string, int]("c")
	c.Retry = nexus.RetryPolicy{MaxAttempts: 1}
	workflow.Step(c, "a", func(_ context.Context, r *workflow.Run[string]) (int, error) {
		if calls.Add(1) < 3 && r.Input == "fails twice" {
			return 0, errors.New("no")
		}
		return 1, nil
	})
	never := workflow.WaitForSignal[int](c, "never", 0)
	_ = never
	p := workflow.New[string, int]("p")
	p.Retry = quick
	workflow.Child(p, "kid", c, func(r *workflow.Run[string]) (string, error) { return r.Input, nil })
	start(t, db, node.Config{}, c, p)
	id := begin(t, db, p, "fails twice", nil)
	db.Wait(`select count(*) = 1 from core_private.workflow_cursors where waiting_for = 'never'`)
	if got := dbtest.Get[string](db, `select string_agg(status || coalesce(parent_attempt::text, ''), ' ' order by created_at, run_id) from core_private.workflow_runs where parent_run_id = $1`, id); strings.Count(got, "failed") != 2 || strings.Count(got, "open") != 1 {
		t.Errorf("children: %s", got)
	}
	db.Exec(`select core.signal_workflow(run_id, 'never') from core_private.workflow_runs where parent_run_id = $1 and status = 'open'`, id)
	if _, err := await(t, db, p, id); err != nil {
		t.Error(err)
	}
	calls.Store(-1) // three children fail, and the fourth does not
	id = begin(t, db, p, "fails twice", nil)
	if _, err := await(t, db, p, id); err == nil {
		t.Fatal("it did not fail")
	}
	if resumed, err := workflow.Retry(t.Context(), db.Owner, id); err != nil || !resumed {
		t.Fatal(resumed, err)
	}
	db.Wait(`select count(*) = 1 from core_private.workflow_cursors where waiting_for = 'never'`)
	db.Exec(`select core.signal_workflow(run_id, 'never') from core_private.workflow_runs where parent_run_id = $1 and status = 'open'`, id)
	if _, err := await(t, db, p, id); err != nil {
		t.Error("retried: ", err)
	}
	id = begin(t, db, p, "", nil)
	db.Wait(`select count(*) = 1 from core_private.workflow_cursors where waiting_for = 'never'`)
	if got, err := workflow.Cancel(t.Context(), db.Owner, id, true, "not wanted"); err != nil || got != workflow.Cancelled {
		t.Fatal(got, err)
	}
	if _, err := await(t, db, p, id); err == nil || !strings.Contains(err.Error(), "cancelled") {
		t.Error(err)
	}
	db.Wait(`select bool_and(status = 'cancelled') from core_private.workflow_runs where parent_run_id = $1`, id)
}

// holds: W9 (retried)
// A run that is retried has its child go on where that failed, with the child of that; and begins another one where something was undone.
func TestARetryGoesOnWithChildren(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	var mended atomic.Bool
	type run = workflow.Run[int]
	in := func(r *run) (int, error) { return r.Input, nil }
	does := func(ctx context.Context, r *run) (int, error) { return 1, note(ctx, db.Pool, r.ID, r.Step, r.Attempt) }
	breaks := func(ctx context.Context, r *run) (int, error) {
		if !mended.Load() {
			return 0, errors.New("not mended")
		}
		return does(ctx, r)
	}
	flow := func(name string) *workflow.Workflow[int, int] {
		w := workflow.New[int, int](name)
		w.Retry = nexus.RetryPolicy{MaxAttempts: 1}
		return w
	}
	inner, outer, top := flow("inner"), flow("outer"), flow("top")
	workflow.Step(inner, "deep", does)
	workflow.Step(inner, "breaks", breaks)
	workflow.Step(outer, "near", does)
	workflow.Child(outer, "inside", inner, in)
	p := workflow.Parallel(top, "p")
	workflow.Step(p, "beside", does)
	workflow.Child(p, "kid", outer, in)
	workflow.Step(top, "last", does)
	undoing, above := flow("undoing"), flow("above")
	workflow.Step(undoing, "done", does).Compensate(func(ctx context.Context, r *run, _ int) error {
		return note(ctx, db.Pool, r.ID, "undone", r.Attempt)
	})
	workflow.Step(undoing, "breaks", breaks)
	workflow.Child(above, "kid", undoing, in)
	start(t, db, node.Config{}, inner, outer, top, undoing, above)
	for _, c := range []struct {
		w    *workflow.Workflow[int, int]
		want string
		runs int
	}{{top, "beside breaks deep last near", 3}, {above, "breaks done done undone", 3}} {
		mended.Store(false)
		db.Exec(`delete from public.effect`)
		db.Exec(`delete from core_private.workflow_runs where finished_at is not null`)
		id := begin(t, db, c.w, 1, nil)
		if _, err := await(t, db, c.w, id); err == nil {
			t.Fatal("it did not fail")
		}
		mended.Store(true)
		if resumed, err := workflow.Retry(t.Context(), db.Owner, id); err != nil || !resumed {
			t.Fatal(resumed, err)
		}
		if _, err := await(t, db, c.w, id); err != nil {
			t.Error(err)
		}
		if got := dbtest.Get[string](db, `select string_agg(what, ' ' order by what) from public.effect`); got != c.want {
			t.Errorf("%s did %s, want %s", c.w.Name(), got, c.want)
		}
		if got := dbtest.Get[int](db, `select count(*)::int from core_private.workflow_runs`); got != c.runs {
			t.Errorf("%s: %d runs, want %d", c.w.Name(), got, c.runs)
		}
	}
}

// holds: W10
// What runs goes on to its end, and then the run is cancelled and undone, also if it was the last step.
func TestCancel(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, int]("w")
	began, end := make(chan struct{}), make(chan struct{})
	s := workflow.Step(w, "a", func(ctx context.Context, r *run) (int, error) {
		began <- struct{}{}
		<-end
		return 1, note(ctx, db.Pool, r.ID, r.Step, r.Attempt)
	})
	s.Compensate(func(ctx context.Context, r *run, n int) error { return note(ctx, db.Pool, r.ID, r.Step, r.Attempt) })
	start(t, db, node.Config{}, w)
	for _, compensate := range []bool{true, false} {
		db.Exec("truncate public.effect")
		id := begin(t, db, w, order{}, nil)
		<-began
		if got, err := workflow.Cancel(t.Context(), db.Owner, id, compensate, ""); err != nil || got != workflow.Cancelled {
			t.Fatal(got, err)
		}
		end <- struct{}{}
		_, err := await(t, db, w, id)
		if e, ok := errors.AsType[*workflow.RunError](err); !ok || e.Status != "cancelled" {
			t.Errorf("%v", err)
		}
		want := "a"
		if compensate {
			want = "a a~undo"
		}
		if got := dbtest.Get[string](db, inOrder); got != want {
			t.Errorf("effects %s, want %s", got, want)
		}
		if got, err := workflow.Cancel(t.Context(), db.Owner, id, compensate, ""); err != nil || got != workflow.AlreadyFinished {
			t.Error(got, err)
		}
	}
}

// A run that continues as a new one ends in the commit that begins it.
func TestContinueAsNew(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[int, int]("w")
	workflow.TxStep(w, "a", func(ctx context.Context, tx pgx.Tx, r *workflow.Run[int]) (int, error) {
		if err := note(ctx, tx, r.ID, fmt.Sprint(r.Input), r.Attempt); err != nil {
			return 0, err
		}
		if r.Input == 2 {
			return 0, workflow.ContinueAsNew(r, 3)
		}
		return 0, nil
	})
	workflow.Step(w, "b", func(ctx context.Context, r *workflow.Run[int]) (int, error) {
		if r.Input < 5 {
			return 0, workflow.ContinueAsNew(r, r.Input+1)
		}
		return 0, r.Progress(ctx, map[string]int{"done": r.Input})
	})
	start(t, db, node.Config{}, w)
	begin(t, db, w, 1, nil)
	db.Wait(`select count(*) = 5 and bool_and(status = 'completed') from core_private.workflow_runs`)
	if got := dbtest.Get[string](db, inOrder); got != "1 2 3 4 5" {
		t.Errorf("inputs %s", got)
	}
	if got := dbtest.Get[string](db, `select progress->>'done' from core_private.workflow_runs where progress is not null`); got != "5" {
		t.Errorf("progress %s", got)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core_private.workflow_runs where continued_from is not null`); n != 4 {
		t.Errorf("%d say where they come from", n)
	}
}

// holds: W13
// A fork goes on from where the journal of the other run is, and what it took over it does not undo.
func TestFork(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, int]("w")
	w.Retry = nexus.RetryPolicy{MaxAttempts: 1}
	var mended atomic.Bool
	note := func(ctx context.Context, r *run) error { return note(ctx, db.Pool, r.ID, r.Step, r.Attempt) }
	for _, name := range []string{"a", "b", "c"} {
		workflow.Step(w, name, func(ctx context.Context, r *run) (int, error) {
			if name == "c" && !mended.Load() {
				return 0, errors.New("no")
			}
			return 1, note(ctx, r)
		})
	}
	start(t, db, node.Config{}, w)
	id := begin(t, db, w, order{}, nil)
	if _, err := await(t, db, w, id); err == nil {
		t.Fatal("it did not fail")
	}
	mended.Store(true)
	fork, err := workflow.Fork(t.Context(), db.Owner, id, "b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := await(t, db, w, fork); err != nil {
		t.Error(err)
	}
	if got := dbtest.Get[string](db, inOrder); got != "a b b c" {
		t.Errorf("effects %s", got)
	}
}

// holds: W6
// Started with a delay, and ended by a timeout that undoes what was done.
func TestTimesOfARun(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, int]("w")
	workflow.Step(w, "a", func(ctx context.Context, r *run) (int, error) { return 1, note(ctx, db.Pool, r.ID, r.Step, r.Attempt) }).
		Compensate(func(ctx context.Context, r *run, n int) error { return note(ctx, db.Pool, r.ID, r.Step, r.Attempt) })
	workflow.Sleep(w, "long", 1000*time.Hour)
	start(t, db, node.Config{}, w)
	id := begin(t, db, w, order{}, &workflow.StartOptions{Delay: time.Hour, Timeout: 10 * time.Hour})
	if _, err := workflow.Signal(t.Context(), db.Pool, id, "x", nil); err != nil {
		t.Fatal(err)
	}
	db.Advance(time.Hour)
	db.Wait(`select exists (select from core_private.workflow_cursors where state = 'T')`) // before that the move would end a lease
	db.Advance(10*time.Hour + time.Second)
	db.Exec("select core.tick()")
	_, err := await(t, db, w, id)
	if e, ok := errors.AsType[*workflow.RunError](err); !ok || e.Status != "timed_out" {
		t.Error(err)
	}
	if got := dbtest.Get[string](db, inOrder); got != "a a~undo" {
		t.Errorf("effects %s", got)
	}
}

// holds: W5
// A node that drains finishes the step in hand and gives the run back at once: another one goes on, and nobody died.
// holds: others-finished (runs)
func TestDrain(t *testing.T) {
	leaks(t)
	db := newDB(t)
	w := workflow.New[order, int]("w")
	began, end := make(chan struct{}, 2), make(chan struct{})
	workflow.Step(w, "a", func(ctx context.Context, r *run) (int, error) {
		began <- struct{}{}
		<-end
		return 1, note(ctx, db.Pool, r.ID, "a", r.Deaths)
	})
	workflow.Step(w, "b", func(ctx context.Context, r *run) (int, error) { return 1, note(ctx, db.Pool, r.ID, "b", r.Deaths) })
	stop := start(t, db, node.Config{}, w)
	id := begin(t, db, w, order{}, nil)
	<-began
	var stopped sync.WaitGroup
	stopped.Go(stop)
	db.Wait(`select exists (select from core.nodes where state = 'draining')`)
	close(end)
	stopped.Wait()
	if got := dbtest.Get[string](db, inOrder); got != "a" {
		t.Errorf("effects %s", got)
	}
	stop = start(t, db, node.Config{}, w)
	if _, err := await(t, db, w, id); err != nil {
		t.Error(err)
	}
	if got := dbtest.Get[string](db, `select string_agg(what || attempt, ' ' order by n) from public.effect`); got != "a0 b0" {
		t.Errorf("effects and deaths: %s", got)
	}
	stop()
}

// A step that ignores the end of its context is given up and counted as one that took too long; its place comes back with it.
func TestAStuckStep(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, int]("w")
	end := make(chan struct{})
	defer close(end)
	s := workflow.Step(w, "a", func(_ context.Context, r *run) (int, error) {
		if r.Attempt == 1 {
			<-end
		}
		return r.Attempt, nil
	})
	s.Timeout, s.Retry = 10*time.Millisecond, quick
	w.Returns(func(r *run) (int, error) { return s.Result(r), nil })
	start(t, db, node.Config{}, w)
	if out, err := await(t, db, w, begin(t, db, w, order{}, nil)); err != nil || out != 2 {
		t.Error(out, err)
	}
}

// holds: W1 (two of one name)
// Of two workflows of one name on a node the runs would take whichever was registered last.
func TestTwoOfOneName(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	one := func() *workflow.Workflow[order, int] {
		w := workflow.New[order, int]("w")
		workflow.Step(w, "a", func(context.Context, *run) (int, error) { return 1, nil })
		return w
	}
	n := newNode(db, node.Config{})
	n.Add(one(), one())
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := n.Run(ctx); !errors.Is(err, nexus.ErrInvalid) || !strings.Contains(err.Error(), "workflow w") {
		t.Error(err)
	}
	many := one()
	many.Slots = 5000 // more than one claim gives
	start(t, db, node.Config{}, many)
	if _, err := await(t, db, many, begin(t, db, many, order{}, nil)); err != nil {
		t.Error(err)
	}
}
