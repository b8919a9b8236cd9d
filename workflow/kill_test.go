package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

// die is kill -9.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// child is a node that dies of what its runs say.
func child(url, mode string) error {
	ctx := context.Background()
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return err
	}
	n := node.New(pool, node.Config{Namespace: ns, Lease: time.Second, Poll: 20 * time.Millisecond})
	if of, ok := strings.CutPrefix(mode, "random "); ok {
		var id string
		var seed uint64
		if _, err := fmt.Sscan(of, &id, &seed); err != nil {
			return err
		}
		n = node.New(pool, node.Config{ID: id, Namespace: ns, Lease: 3 * time.Second, Poll: 20 * time.Millisecond})
		for _, m := range builtAll(seed, pool) {
			n.Add(m)
		}
		return n.Run(ctx)
	}
	switch mode {
	case "killer":
		n = node.New(pool, node.Config{ID: "doomed", Namespace: ns, Lease: 5 * time.Second, Poll: 20 * time.Millisecond})
		n.Add(killing(pool))
	case "saga":
		n.Add(saga(pool))
	case "handed":
		n.Add(handed(pool, true))
	case "frozen":
		n.Add(freezing(pool, true))
	default:
		n.Add(deadly(pool))
	}
	return n.Run(ctx)
}

func spawn(t *testing.T, db *dbtest.DB, mode string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envChildURL+"="+db.URL, envChildMode+"="+mode)
	cmd.Stderr = os.Stderr
	if os.Getenv("NEXUS_TEST_LOG") == "" {
		cmd.Stderr = nil
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(cmd) })
	return cmd
}

func kill(cmd *exec.Cmd) {
	if cmd.ProcessState == nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// keep has a process of that mode run until ctx ends, and starts another one whenever it dies. died counts that.
func keep(t *testing.T, db *dbtest.DB, mode string) (died func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	deaths := make(chan int, 1)
	deaths <- 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), envChildURL+"="+db.URL, envChildMode+"="+mode)
			_ = cmd.Run()
			if ctx.Err() == nil {
				deaths <- 1 + <-deaths
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return func() int {
		n := <-deaths
		deaths <- n
		return n
	}
}

// places where a process of deadly dies, once each.
var places = []string{
	"before leased", "in leased", "after leased", "before tx", "in tx", "after tx", "in commit of tx", "in commit of leased", "left", "m#1", "key", "done", "returns",
}

// deadly is a workflow whose process dies where its input says, if it has not died there before.
func deadly(pool *pgxpool.Pool) *workflow.Workflow[string, int] {
	w := workflow.New[string, int]("deadly")
	w.Retry = quick
	type run = workflow.Run[string]
	once := func(r *run, where string) {
		if r.Input != where {
			return
		}
		tag, err := pool.Exec(context.Background(), `insert into public.died select $1, $2 where not exists (select from public.died where run = $1)`, r.ID, where)
		if err == nil && tag.RowsAffected() == 1 {
			die()
		}
	}
	workflow.Step(w, "first", func(ctx context.Context, r *run) (int, error) { return 1, note(ctx, pool, r.ID, "first", r.Attempt) })
	workflow.Step(w, "leased", func(ctx context.Context, r *run) (int, error) {
		once(r, "before leased")
		if err := note(ctx, pool, r.ID, "leased", r.Attempt); err != nil {
			return 0, err
		}
		once(r, "in leased")
		if r.Input == "in commit of leased" && r.Deaths == 0 { // at about the time of its commit
			go func() { <-time.After(time.Millisecond); once(r, "in commit of leased") }()
		}
		return 1, nil
	})
	workflow.TxStep(w, "tx", func(ctx context.Context, tx pgx.Tx, r *run) (int, error) {
		once(r, "after leased")
		once(r, "before tx")
		if err := note(ctx, tx, r.ID, "tx", r.Attempt); err != nil {
			return 0, err
		}
		once(r, "in tx")
		if r.Input == "in commit of tx" && r.Deaths == 0 {
			go func() { <-time.After(time.Millisecond); once(r, "in commit of tx") }()
		}
		return 1, nil
	})
	p := workflow.Parallel(w, "p")
	workflow.TxStep(p, "left", func(ctx context.Context, tx pgx.Tx, r *run) (int, error) {
		once(r, "after tx")
		if err := note(ctx, tx, r.ID, "left", r.Attempt); err != nil {
			return 0, err
		}
		once(r, "left")
		return 1, nil
	})
	workflow.TxStep(p, "right", func(ctx context.Context, tx pgx.Tx, r *run) (int, error) {
		return 1, note(ctx, tx, r.ID, "right", r.Attempt)
	})
	workflow.Map(w, "m", 2, func(*run) ([]int, error) { return []int{1, 2, 3, 4}, nil }, func(ctx context.Context, r *run, n int) (int, error) {
		once(r, r.Step)
		return n, nil
	})
	of := workflow.Route(w, "r", func(r *run) (string, error) { once(r, "key"); return "x", nil })
	l := workflow.Loop(of("x"), "l", 3, func(r *run) (bool, error) { once(r, "done"); return r.Turn == 2, nil })
	workflow.TxStep(l, "turn", func(ctx context.Context, tx pgx.Tx, r *run) (int, error) {
		return 1, note(ctx, tx, r.ID, r.Step, r.Attempt)
	})
	workflow.Sleep(w, "nap", 10*time.Millisecond)
	w.Returns(func(r *run) (int, error) { once(r, "returns"); return 7, nil })
	return w
}

// holds: W2
// A real process is killed before, in and after each kind of step and at its commit. Each run finishes; what a TxStep wrote is there once.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec("create table public.died (run uuid, place text)")
	db.Exec("grant all on public.died to public")
	died := keep(t, db, "deadly")
	db.Wait(`select exists (select from core_private.workflow_definitions)`)
	w := deadly(db.Pool)
	runs := map[string]uuid.UUID{}
	for _, place := range places {
		runs[place] = begin(t, db, w, place, nil)
		if out, err := await(t, db, w, runs[place]); err != nil || out != 7 {
			t.Fatalf("%s: %d %v", place, out, err)
		}
	}
	got := dbtest.Get[string](db, `select string_agg(distinct e, '; ') from (select string_agg(what, ' ' order by what) as e from public.effect where what not in ('leased', 'first') group by run) x`)
	if got != "left right turn#1 turn#2 tx" {
		t.Errorf("what was written in transactions, run by run: %s", got)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from (select from public.effect where what = 'leased' group by run having count(*) > 2) x`); n != 0 {
		t.Errorf("%d leased steps ran more often than their process died", n)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from public.effect where attempt > 1`); n != 0 {
		t.Errorf("%d deaths were counted as failures", n)
	}
	if n := died(); n < len(places)-2 { // at the commit it may be too late to die in time
		t.Errorf("%d deaths at %d places", n, len(places))
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core_private.workflow_cursors`); n != 0 {
		t.Errorf("%d cursors are left", n)
	}
}

// holds: W4
// A process dies in each compensation, wherever the run failed. The one that comes after it goes on there, and nothing is undone twice but what was
// not journaled.
// holds: others-undo
func TestKilledInCompensations(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	died := keep(t, db, "saga")
	db.Wait(`select exists (select from core_private.workflow_definitions)`)
	w := saga(db.Pool)
	var trips []trip
	for _, fails := range append(slices.Clone(undoable), "none", "end") {
		for _, key := range surely(fails) {
			if long() || fails == "end" && slices.Contains([]string{"last", "m#1", "right-a", "b"}, key) {
				trips = append(trips, trip{Fails: fails, Undo: key + "~undo", How: "dies"})
			}
		}
	}
	for _, in := range trips {
		id := begin(t, db, w, in, nil)
		_, err := await(t, db, w, id)
		if e, ok := errors.AsType[*workflow.RunError](err); !ok || e.Status != "failed" || e.Step != in.Fails {
			t.Fatalf("%+v: %v", in, err)
		}
		ran := dbtest.Get[[]string](db, `select coalesce(array_agg(distinct what), '{}') from public.effect where run = $1 and what !~ '~undo'`, id)
		want := slices.DeleteFunc(slices.Clone(undoable), func(key string) bool {
			return !slices.Contains(ran, key) && (key != "last" || in.Fails != "last")
		})
		undid := dbtest.Get[[]string](db, `select array_agg(replace(what, '~undo', '') order by n) from public.effect where run = $1 and what ~ '~undo'`, id)
		slices.Reverse(undid)
		if !slices.Equal(undid, want) {
			t.Errorf("%+v: undone in reverse %v, want %v", in, undid, want)
		}
	}
	if died() != len(trips) {
		t.Errorf("%d deaths", died())
	}
}

// freezing is a workflow whose process stops in the middle of a step, without dying.
func freezing(pool *pgxpool.Pool, freezes bool) *workflow.Workflow[string, string] {
	w := workflow.New[string, string]("freezing")
	type run = workflow.Run[string]
	stop := func() {
		if freezes {
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			<-time.After(10 * time.Millisecond) // the signal may stop another thread first
		}
	}
	a := workflow.Step(w, "a", func(ctx context.Context, r *run) (string, error) {
		if r.Input == "leased" {
			stop()
		}
		return fmt.Sprint(freezes, r.Deaths), nil
	})
	workflow.TxStep(w, "b", func(ctx context.Context, tx pgx.Tx, r *run) (int, error) {
		if err := note(ctx, tx, r.ID, fmt.Sprint(freezes), r.Attempt); err != nil {
			return 0, err
		}
		if r.Input == "tx" {
			stop()
		}
		return 1, nil
	})
	w.Returns(func(r *run) (string, error) { return a.Result(r), nil })
	return w
}

// holds: W5
// A process that freezes in a step and wakes after its lease has ended changes nothing: another one has gone on.
// holds: others-lease (runs)
func TestAFrozenProcessChangesNothing(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"leased", "tx"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			frozen := spawn(t, db, "frozen")
			db.Wait(`select exists (select from core_private.workflow_definitions)`)
			w := freezing(db.Pool, false)
			id := begin(t, db, w, mode, nil)
			stopped := func() bool {
				stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", frozen.Process.Pid))
				_, rest, _ := strings.Cut(string(stat), ") ")
				return err == nil && strings.HasPrefix(rest, "T")
			}
			for began := time.Now(); !stopped(); runtime.Gosched() {
				if time.Since(began) > time.Minute {
					t.Fatal("it does not freeze")
				}
			}
			start(t, db, node.Config{}, w)
			out, err := await(t, db, w, id)
			if err != nil || mode == "leased" && out != "false 1" {
				t.Fatalf("%q %v", out, err)
			}
			before := dbtest.Get[string](db, `select string_agg(r::text, ' ') from core_private.workflow_runs r`)
			if err := frozen.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			// It is back once it has claimed something again.
			db.Wait(`select count(*) >= 1 from core.nodes where last_heartbeat > $1`, db.Now())
			second := begin(t, db, w, "", nil)
			if _, err := await(t, db, w, second); err != nil {
				t.Fatal(err)
			}
			if got := dbtest.Get[string](db, `select string_agg(r::text, ' ') from core_private.workflow_runs r where run_id = $1`, id); got != before {
				t.Errorf("the run was %s\nand is %s", before, got)
			}
			if got := dbtest.Get[string](db, `select string_agg(what, ' ') from public.effect where run = $1`, id); got != "false" {
				t.Errorf("effects of %s", got)
			}
		})
	}
}
