package node_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/svc"
	"github.com/nexuspg/nexus/internal/work"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/schedule"
)

// holds: S12
func TestDeclaredBecomesTrueWhenTheNodeRuns(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	if _, err := (schedule.Declared{Owner: "billing", Tasks: []schedule.Task{{Namespace: ns, Name: "old", Cron: "* * * * *", Type: "x"}}}).Apply(t.Context(), db.Pool, false); err != nil {
		t.Fatal(err)
	}
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.Add(schedule.Declared{Owner: "billing", Tasks: []schedule.Task{{Name: "close-day", Cron: "30 2 * * *", Type: "day.closed"}}})
	start(t, n)
	db.Wait("select array_agg(namespace || '/' || name) = '{shop/close-day}' from core.scheduled_tasks")
}

func TestAServiceThatFailsEndsTheNode(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.Add(schedule.Declared{Owner: "billing", Tasks: []schedule.Task{{Name: "close-day", Cron: "30 25 * * *", Type: "day.closed"}}})
	err := n.Run(t.Context())
	var e *nexus.Error
	if !errors.As(err, &e) || e.Code != nexus.CodeCron {
		t.Errorf("Run: %v, want what is wrong with the expression", err)
	}
	if got := dbtest.Get[string](db, "select state from core.nodes"); got != "stopped" {
		t.Errorf("the node is %s", got)
	}
}

// A constructor that failed leaves a nil pointer, which is no reason to end the process.
func TestANilServiceIsRefused(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	for _, s := range []node.Service{nil, (*lane)(nil)} {
		n := node.New(db.Pool, node.Config{Namespace: ns})
		n.Add(s)
		_, worked := n.Work(t.Context(), 1)
		for _, err := range []error{worked, n.Run(t.Context())} {
			if err == nil || !strings.Contains(err.Error(), "a service that is nil") {
				t.Errorf("%T: %v", s, err)
			}
		}
	}
}

// Work does what Run does, inline: what is declared is, once, and fires when it is due.
// holds: work
func TestWorkDeclaresAndFires(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.SetNow(time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC))
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: nexus.RetryPolicy{MaxAttempts: 1}})
	n.Add(schedule.Declared{Owner: "billing", Tasks: []schedule.Task{{Name: "close-day", Cron: "30 2 * * *", Type: "day.closed"}}})
	var slots []time.Time
	n.On("day.closed", func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error {
		slots = append(slots, d.Slot)
		return errors.New("the node's policy allows one attempt")
	})
	work := func(want int) {
		t.Helper()
		if got, err := n.Work(t.Context(), 100); err != nil || got != want {
			t.Fatalf("%d handled, %v; want %d", got, err, want)
		}
	}
	work(0)
	if _, err := schedule.ScheduleEvent(t.Context(), db.Pool, ns, "day.closed", nil, db.Now().Add(time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	work(0)
	db.Advance(24 * time.Hour)
	work(2)
	want := time.Date(2026, 5, 5, 2, 30, 0, 0, time.UTC)
	if !slices.ContainsFunc(slots, want.Equal) {
		t.Errorf("slots %v, want %v among them", slots, want)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters`); n != 2 {
		t.Errorf("%d dead letters, want two", n)
	}
	if err := schedule.DeleteTask(t.Context(), db.Pool, ns, "close-day"); err != nil {
		t.Fatal(err)
	}
	work(0)
	if n := dbtest.Get[int](db, `select count(*)::int from core.scheduled_tasks`); n != 0 {
		t.Error("declared a second time, as Run would not")
	}
}

// holds: work
func TestAServiceThatFailsEndsWork(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.Add(schedule.Declared{Owner: "billing", Tasks: []schedule.Task{{Name: "close-day", Cron: "30 25 * * *", Type: "day.closed"}}})
	for range 2 {
		if _, err := n.Work(t.Context(), 1); !errors.Is(err, nexus.ErrInvalid) {
			t.Errorf("Work: %v, want what is wrong with the expression", err)
		}
	}
}

// What is added to a node that runs begins with Apply, which says what it cannot declare; that is there again for the next one.
//
// holds: N1-changes
func TestAServiceThatIsAddedBeginsWithApply(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Grace: time.Minute})
	var before, after, failing atomic.Int32
	counting := func(runs *atomic.Int32) served {
		return func(ctx context.Context, h *svc.Host) error {
			runs.Add(1)
			<-ctx.Done()
			runs.Add(-1)
			return nil
		}
	}
	n.Add(counting(&before))
	stop := start(t, n)
	db.Wait(`select count(*) = 1 from core.nodes where state = 'active'`)
	apply(t, n)
	task := schedule.Task{Name: "close-day", Cron: "30 25 * * *", Type: "day.closed"}
	tasks := []schedule.Task{task}
	n.Add(counting(&after), schedule.Declared{Owner: "billing", Tasks: tasks}, counting(&failing))
	for range 2 {
		if err := n.Apply(t.Context()); !errors.Is(err, nexus.ErrInvalid) {
			t.Errorf("Apply: %v, want what is wrong with the expression", err)
		}
	}
	eventually(t, "those before it run", time.Minute, func() bool { return before.Load() == 1 && after.Load() == 1 })
	if got := failing.Load(); got != 0 {
		t.Errorf("%d of those behind it run", got)
	}
	tasks[0].Cron = "30 2 * * *"
	apply(t, n)
	if got := dbtest.Get[int](db, `select count(*)::int from core.scheduled_tasks`); got != 1 {
		t.Errorf("%d tasks are declared when Apply returns", got)
	}
	apply(t, n)
	eventually(t, "each runs once", time.Minute, func() bool { return before.Load() == 1 && after.Load() == 1 && failing.Load() == 1 })
	stop()
	if before.Load() != 0 || after.Load() != 0 || failing.Load() != 0 {
		t.Error("one runs on without its node")
	}
	n.Add(counting(&after))
	if err := n.Apply(t.Context()); !errors.Is(err, node.ErrNotRunning) {
		t.Errorf("Apply: %v, and the node has ended", err)
	}
}

// served is a service of one function.
type served func(ctx context.Context, h *svc.Host) error

func (f served) Declare(context.Context, *svc.Host) error { return nil }

func (f served) Runner(h *svc.Host) svc.Runner {
	return svc.Serve(h, func(ctx context.Context) error { return f(ctx, h) })
}

// A service has the grace time to finish what it runs, as handlers do.
// holds: N4-services
func TestAServiceHasGrace(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Grace: time.Minute})
	type key struct{}
	draining, finish := make(chan struct{}), make(chan struct{})
	n.Add(served(func(ctx context.Context, h *svc.Host) error {
		<-ctx.Done()
		close(draining)
		<-finish
		if h.Handling.Value(key{}) != "of Run" {
			t.Error("what it runs has not the values of Run's context")
		}
		_, err := h.Own.Exec(h.Handling, `select core.now()`)
		if err != nil {
			t.Errorf("what it runs was cut short: %v", err)
		}
		return err
	}))
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "of Run"))
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	db.Wait(`select count(*) = 1 from core.nodes where state = 'active'`)
	cancel()
	<-draining
	db.Wait(`select count(*) = 1 from core.nodes where state = 'draining'`)
	select {
	case err := <-done:
		t.Errorf("Run did not wait for it: %v", err)
	default:
	}
	close(finish)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// One that begins while the node begins to drain cannot say what it can do any more, which is no failure of the node.
// holds: N4-services
func TestADrainThatOvertakesAServiceIsNoFailure(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.Add(served(func(ctx context.Context, h *svc.Host) error {
		<-ctx.Done()
		err := h.Can(context.WithoutCancel(ctx), work.Abilities{Workflows: []string{"late#1"}})
		if !errors.Is(err, nexus.ErrDraining) {
			t.Errorf("it was told %v", err)
		}
		h.Fail(err)
		return nil
	}))
	stop := start(t, n)
	db.Wait(`select count(*) = 1 from core.nodes where state = 'active'`)
	stop()
}

// When that is over, what it runs is cancelled; one that ends then is no cause for a line.
// holds: N4-services
func TestWhatAServiceRunsEndsWithTheGrace(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	var log buffer
	n := node.New(db.Pool, node.Config{Namespace: ns, Grace: 50 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	n.Add(served(func(ctx context.Context, h *svc.Host) error {
		<-h.Handling.Done()
		if ctx.Err() == nil || !errors.Is(context.Cause(h.Handling), nexus.ErrDraining) {
			t.Errorf("ended by %v, want the drain", context.Cause(h.Handling))
		}
		return nil
	}))
	stop := start(t, n)
	db.Wait(`select count(*) = 1 from core.nodes where state = 'active'`)
	stop()
	if strings.Contains(log.String(), "did not end in time") {
		t.Errorf("it ended in time:\n%s", log.String())
	}
}

// One that ignores the end holds up nobody, with a connection of the node in its hands.
// holds: N4-services, others-stuck
func TestAStuckServiceDoesNotHoldUpTheExit(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	var log buffer
	n := node.New(db.Pool, node.Config{Namespace: ns, Grace: 50 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	holds, release, returned := make(chan struct{}), make(chan struct{}), make(chan struct{})
	n.Add(served(func(_ context.Context, h *svc.Host) error {
		defer close(returned)
		conn, err := h.Own.Acquire(context.Background())
		if err != nil {
			return err
		}
		defer conn.Release()
		close(holds)
		<-release
		return nil
	}), schedule.Declared{Owner: "billing"})
	stop := start(t, n)
	<-holds
	stop()
	if got := dbtest.Get[string](db, "select state from core.nodes"); got != "stopped" {
		t.Errorf("the node is %s", got)
	}
	if said := log.String(); strings.Count(said, "did not end in time") != 1 || !strings.Contains(said, "service=node_test.served") {
		t.Errorf("the log does not name it, and it alone:\n%s", said)
	}
	close(release)
	<-returned
}

// lane is a service whose runner does nothing but say what it was told.
type lane struct {
	host    *svc.Host
	started chan struct{}
	stopped chan struct{}
	finish  chan struct{}
	woken   atomic.Int32
	fetched atomic.Pointer[time.Time]
	stuck   atomic.Pointer[time.Time]
	worked  int
}

func newLane() *lane {
	l := &lane{started: make(chan struct{}), stopped: make(chan struct{}), finish: make(chan struct{})}
	l.fetched.Store(new(time.Time))
	l.stuck.Store(new(time.Time))
	return l
}

func (l *lane) Declare(context.Context, *svc.Host) error { return nil }

func (l *lane) Runner(h *svc.Host) svc.Runner {
	l.host = h
	return l
}

func (l *lane) Keys() []string                     { return []string{"lane:7"} }
func (l *lane) Wake()                              { l.woken.Add(1) }
func (l *lane) Start()                             { close(l.started) }
func (l *lane) LastFetch() time.Time               { return *l.fetched.Load() }
func (l *lane) Stuck() (places int, all time.Time) { return 1, *l.stuck.Load() }

func (l *lane) Stop(grace context.Context) {
	close(l.stopped)
	select {
	case <-l.finish:
	case <-grace.Done():
	}
}

func (l *lane) Work(_ context.Context, limit int) (int, error) {
	l.worked++
	return min(limit, 3), nil
}

// A service is a runner of the node as its handlers are: it is woken, judged, given places and grace, and what it can do is known.
//
// holds: N4-services (runners), others-deaf (lanes, workflows, webhooks)
func TestAServiceIsARunner(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	reg := prometheus.NewRegistry()
	n := node.New(db.Pool, node.Config{Namespace: ns, ID: "n", Workers: 1, Grace: time.Minute, Registerer: reg})
	busy, free := make(chan struct{}), make(chan struct{})
	n.On("busy", func(context.Context, pgx.Tx, *nexus.Delivery) error { close(busy); <-free; return nil })
	l := newLane()
	n.Add(l)
	stop := start(t, n)
	<-l.started
	eventually(t, "it hears that the node listens", time.Minute, func() bool { return l.woken.Load() > 0 })

	// Woken by its keys.
	{
		before := l.woken.Load()
		db.Exec(`select pg_notify('nexus_wake', 'lane:8')`)
		db.Exec(`select core_private.wake('lane:7', core.now())`) // nobody waits
		db.Exec(`select pg_notify('nexus_wake', 'lane:7')`)
		eventually(t, "it is woken", time.Minute, func() bool { return l.woken.Load() > before })
		if got := l.woken.Load(); got != before+1 {
			t.Errorf("woken %d times", got-before)
		}
		if err := l.host.Announce(t.Context(), "core_events_shop", time.Minute); err != nil {
			t.Fatal(err)
		}
		if !dbtest.Get[bool](db, `select exists (select from core_private.wake_flags where key = 'core_events_shop' and waiting_until > core.now() + interval '50 s')`) {
			t.Error("nobody is asked to call it")
		}
	}

	// Judged.
	{
		long := time.Now().Add(-time.Hour)
		eventually(t, "the node is ready", time.Minute, func() bool { return n.Ready() == nil })
		l.fetched.Store(&long)
		if n.Ready() == nil || n.Health() == nil {
			t.Error("the node is well, and the service has not fetched for an hour")
		}
		if age := scrape(t, reg)["fetch_age_seconds shop"]; age < 3600 {
			t.Errorf("the metrics say %v s", age)
		}
		l.fetched.Store(new(time.Time))
		l.stuck.Store(&long)
		if err := n.Health(); !errors.Is(err, node.ErrStuck) {
			t.Errorf("Health: %v, and all of its places are stuck", err)
		}
		l.stuck.Store(new(time.Time))
		if err := n.Health(); err != nil {
			t.Errorf("Health: %v", err)
		}
		if l.host.Observer("lane", []string{"*"}, func(string) string { return "*" }) == nil {
			t.Error("nobody counts what it handles")
		}
	}

	// Under the same places.
	{
		emit(t, db, "busy", nil)
		<-busy
		got := make(chan struct{}, 1)
		share := l.host.Places.Join(1, func() { got <- struct{}{} })
		if n := share.Hold(1); n != 0 {
			t.Errorf("it has %d places, and a handler has the only one", n)
		}
		close(free)
		<-got
		if n := share.Held(); n != 1 {
			t.Errorf("it has %d places once the handler is done", n)
		}
		share.Hold(0)
		share.Leave()
	}

	// Known for what it can do.
	{
		can := func() string {
			return dbtest.Get[string](db, `select string_agg(concat_ws(' ', kind, nullif(consumer, ''), key), ', ' order by kind, key) from core_private.node_capabilities`)
		}
		if err := l.host.Can(t.Context(), work.Abilities{Types: []string{"sql.*"}, Consumers: []string{"default"}, Workflows: []string{"pay"}}); err != nil {
			t.Fatal(err)
		}
		const both = "event_type default busy, event_type default sql.*, workflow pay"
		if got := can(); got != both {
			t.Errorf("%s", got)
		}
		if err := l.host.Can(t.Context(), work.Abilities{Workflows: []string{"two words"}}); !errors.Is(err, nexus.ErrInvalid) {
			t.Errorf("%v, want what is wrong with the name", err)
		}
		h := n.OnLeased("y", func(context.Context, *nexus.Delivery) error { return nil })
		apply(t, n)
		h.Remove()
		apply(t, n)
		if got := can(); got != both {
			t.Errorf("after the handlers changed: %s", got)
		}
		db.Exec(`update core.nodes set state = 'lost'`)
		db.Exec(`select core_node.reap_nodes()`)
		db.Exec(`select pg_notify('nexus_wake', 'drain:' || md5('n'))`) // which makes it send a heartbeat
		db.Wait(`select count(*) = 3 from core_private.node_capabilities`)
		if got := can(); got != both {
			t.Errorf("after it was given up: %s", got)
		}
	}

	go stop()
	<-l.stopped
	db.Wait(`select count(*) = 1 from core.nodes where state = 'draining'`)
	if err := l.host.Handling.Err(); err != nil {
		t.Errorf("what it runs has ended: %v", err)
	}
	close(l.finish)
	stop()
}

// Work has services do what is due as well, within the limit.
//
// holds: work
func TestWorkHasServicesWork(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
	l := newLane()
	n.Add(l)
	emitTypes(t, db, 2, "x")
	for i, c := range []struct{ limit, want int }{{4, 4}, {10, 3}} {
		if got, err := n.Work(t.Context(), c.limit); err != nil || got != c.want || l.worked != i+1 {
			t.Errorf("limit %d: %d, %v after %d calls; want %d", c.limit, got, err, l.worked, c.want)
		}
	}
	checkEffects(t, db, 2)
	if err := l.host.Can(t.Context(), work.Abilities{Workflows: []string{"pay"}}); err != nil {
		t.Error(err)
	}
}
