package node_test

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/nexuspg/nexus/queue"
)

// apply makes what is registered so, and fails the test if that does not go well.
func apply(t *testing.T, n *node.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := n.Apply(ctx); err != nil {
		t.Fatalf("Apply: %v", err)
	}
}

// handles is what the database believes that the nodes of the consumer default handle.
func handles(db *dbtest.DB) []string {
	return dbtest.Get[[]string](db, `select coalesce(core_private.live_patterns('shop', 'default', core.now()), '{}')`)
}

// ends waits until a handler that was removed is called no more.
func ends(t *testing.T, h *node.Handler) {
	t.Helper()
	select {
	case <-h.Done():
	case <-time.After(time.Minute):
		t.Error("a handler that was removed does not end")
	}
}

func ended(h *node.Handler) bool {
	select {
	case <-h.Done():
		return true
	default:
		return false
	}
}

// In every mode: what waited or was parked for want of a handler comes to it once it is added, and what comes after it was taken away is left to others.
//
// holds: N1-changes
func TestAHandlerComesAndGoesWhileTheNodeRuns(t *testing.T) {
	t.Parallel()
	for name := range everyMode(nil) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			mode := everyMode(db)[name]
			noted := func(note string) func(context.Context, pgx.Tx, *nexus.Delivery) error {
				return func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, note) }
			}
			n := node.New(db.Pool, node.Config{Namespace: ns})
			mode(n, "stays", noted("stays"))
			start(t, n)
			db.Wait(`select count(*) = 1 from core.nodes where state = 'active'`)
			emitTypes(t, db, 3, "comes")
			db.Wait(parking + `(select count(*) = 3 from core.parked)`)
			emitTypes(t, db, 4, "comes")

			h := mode(n, "comes", noted("first"))
			apply(t, n)
			if got := handles(db); !slices.Equal(got, []string{"comes", "stays"}) {
				t.Errorf("the database believes that it handles %v", got)
			}
			db.Wait(`select count(*) = 7 from public.effect where note = 'first'`)

			h.Remove()
			h.Remove()
			apply(t, n)
			ends(t, h)
			if got := handles(db); !slices.Equal(got, []string{"stays"}) {
				t.Errorf("the database believes that it handles %v", got)
			}
			if got := dbtest.Get[string](db, `select capabilities::text from core.nodes`); got != `{"event_types": ["stays"]}` {
				t.Errorf("core.nodes shows %s", got)
			}
			emitTypes(t, db, 5, "comes", "stays")
			db.Wait(`select count(*) = 2 from public.effect where note = 'stays'`)
			db.Wait(parking + `(select count(*) = 3 from core.parked where event_type = 'comes')`)

			// The last one may go, too.
			other := node.New(db.Pool, node.Config{Namespace: ns, ID: "other"})
			second := mode(other, "comes", noted("second"))
			start(t, other)
			db.Wait(`select count(*) = 3 from public.effect where note = 'second'`)
			second.Remove()
			apply(t, other)
			ends(t, second)
			if got := handles(db); !slices.Equal(got, []string{"stays"}) {
				t.Errorf("the database believes that they handle %v", got)
			}
			if err := other.Ready(); err != nil {
				t.Errorf("a node without handlers is not ready: %v", err)
			}
			emitTypes(t, db, 1, "comes")
			mode(other, "comes", noted("third"))
			apply(t, other)
			db.Wait(`select count(*) = 1 from public.effect where note = 'third'`)
			db.Wait(queueEmpty)
			if got := dbtest.Get[int](db, `select count(*)::int from public.effect where attempt <> 1`); got != 0 {
				t.Errorf("%d took more than one attempt", got)
			}
		})
	}
}

// What a handler has in hand when it is taken away ends under it, while another one, of another mode, has what comes.
//
// holds: N1-changes
func TestWhatIsInHandEndsUnderTheHandlerItWasClaimedFor(t *testing.T) {
	t.Parallel()
	for name := range everyMode(nil) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			cfg := node.Config{Namespace: ns, Lease: patient}
			if name == "On express" || name == "OnBatch" {
				cfg.Express = time.Minute
			}
			n := node.New(db.Pool, cfg)
			began, finish := make(chan struct{}), make(chan struct{})
			old := everyMode(db)[name](n, "x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				close(began)
				select {
				case <-finish:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
				if err := effect(ctx, tx, d, "old"); err != nil || name != "OnLeased" {
					return err
				}
				return queue.Ack(ctx, tx, d)
			})
			start(t, n)
			emit(t, db, "x", nil)
			<-began
			old.Remove()
			if other := "OnLeased"; name == other {
				n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "new") })
			} else {
				everyMode(db)[other](n, "x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "new") })
			}
			apply(t, n)
			emitTypes(t, db, 5, "x")
			db.Wait(`select count(*) = 5 from public.effect where note = 'new'`)
			if ended(old) {
				t.Error("it counts as ended while it runs")
			}
			if err := n.Ready(); err != nil {
				t.Errorf("not ready meanwhile: %v", err)
			}
			close(finish)
			ends(t, old)
			db.Wait(queueEmpty)
			if got := dbtest.Get[string](db, `select string_agg(note || ' ' || attempt, ',') from public.effect where note = 'old'`); got != "old 1" {
				t.Errorf("the old one's effects: %s", got)
			}
			if got := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors`); got != 0 {
				t.Errorf("%d attempts failed", got)
			}
		})
	}
}

// What is in hand under a handler that was taken away has the node's grace time, and no more.
//
// holds: N1-changes
func TestTheNodeEndsWhileAHandlerThatWasRemovedRuns(t *testing.T) {
	t.Parallel()
	for _, grace := range []time.Duration{time.Minute, 50 * time.Millisecond} {
		t.Run(grace.String(), func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n := node.New(db.Pool, node.Config{Namespace: ns, Grace: grace})
			began, finish := make(chan struct{}), make(chan struct{})
			var cause atomic.Value
			h := n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				close(began)
				select {
				case <-finish:
					return effect(ctx, tx, d, "")
				case <-ctx.Done():
					cause.Store(context.Cause(ctx))
					return context.Cause(ctx)
				}
			})
			stop := start(t, n)
			emit(t, db, "x", nil)
			<-began
			h.Remove()
			apply(t, n)
			if grace == time.Minute {
				go stop()
				db.Wait(`select count(*) = 1 from core.nodes where state = 'draining'`)
				if err := n.Apply(t.Context()); err != nil {
					t.Errorf("Apply with nothing to change: %v", err)
				}
				n.On("y", func(context.Context, pgx.Tx, *nexus.Delivery) error { return nil })
				if err := n.Apply(t.Context()); !errors.Is(err, nexus.ErrDraining) {
					t.Errorf("Apply: %v, and the node drains", err)
				}
				close(finish)
			}
			stop()
			ends(t, h)
			if grace == time.Minute {
				checkEffects(t, db, 1)
			} else if err, _ := cause.Load().(error); !errors.Is(err, nexus.ErrDraining) {
				t.Errorf("it was ended by %v, want the drain", err)
			}
			if err := n.Apply(t.Context()); !errors.Is(err, node.ErrNotRunning) {
				t.Errorf("Apply: %v, and the node has ended", err)
			}
		})
	}
}

// A registration that Run would refuse is refused, and the node goes on as it was.
//
// holds: N1-changes
func TestApplyRefusesWhatRunWould(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	tx := func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") }
	leased := func(context.Context, *nexus.Delivery) error { return nil }
	n := node.New(withConns(t, db, 4), node.Config{Namespace: ns, Workers: 2})
	bad := n.On("a*b", nil)
	if err := n.Apply(t.Context()); !errors.Is(err, nexus.ErrInvalid) {
		t.Errorf("before Run: %v", err)
	}
	bad.Remove()
	if !ended(bad) {
		t.Error("what never ran does not end")
	}
	n.On("x", tx)
	if err := n.Apply(t.Context()); err != nil {
		t.Errorf("before Run: %v", err)
	}
	start(t, n)
	db.Wait(`select count(*) = 1 from core.nodes where state = 'active'`)
	for name, c := range map[string]struct {
		with  func() *node.Handler
		field string
	}{
		"two modes":                     {func() *node.Handler { return n.OnLeased("x", leased) }, "Handler"},
		"no function":                   {func() *node.Handler { return n.On("y", nil) }, "Handler(y)"},
		"no pattern":                    {func() *node.Handler { return n.On("a*b", tx) }, "p_types"},
		"more workers than the node":    {func() *node.Handler { h := n.On("y", tx); h.Workers = 3; return h }, "Handler(y).Workers"},
		"more leased than the node":     {func() *node.Handler { h := n.OnLeased("y", leased); h.Workers = 51; return h }, "Handler(y).Workers"},
		"a policy that has no effect":   {func() *node.Handler { h := n.On("y", tx); h.Linger = 1; return h }, "Handler(y).Linger"},
		"attempts beside those of this": {func() *node.Handler { h := n.On("x", tx); h.Workers = 2; h.Batch = 1; return h }, "Handler(x).Batch"},
	} {
		h := c.with()
		err := n.Apply(t.Context())
		if e, is := errors.AsType[*nexus.Error](err); !is || !errors.Is(err, nexus.ErrInvalid) || e.Field != c.field {
			t.Errorf("%s: %v, want an error that names %s", name, err, c.field)
		}
		h.Remove()
		if !ended(h) {
			t.Errorf("%s: what never ran does not end", name)
		}
	}
	apply(t, n)
	if got := handles(db); !slices.Equal(got, []string{"x"}) {
		t.Errorf("the database believes that it handles %v", got)
	}
	emit(t, db, "x", nil)
	db.Wait(queueEmpty)
	checkEffects(t, db, 1)
	n.OnLeased("y", leased).Workers = 50
	apply(t, n) // Config.Workers has had its effect
}

// A handler that runs keeps its settings: a change would have no effect, so nobody is to go on believing in it.
//
// holds: N1-changes
func TestSettingsOfAHandlerThatRunsDoNotChange(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(withConns(t, db, 4), node.Config{Namespace: ns, Workers: 2})
	h := n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
	start(t, n)
	db.Wait(`select count(*) = 1 from core.nodes where state = 'active'`)
	was := *h
	for field, change := range map[string]func(){
		"Name":    func() { h.Name = "y" },
		"Retry":   func() { h.Retry = quick },
		"Timeout": func() { h.Timeout = time.Minute },
		"Workers": func() { h.Workers = 1 },
		"Batch":   func() { h.Batch = 10 },
		"Linger":  func() { h.Linger = time.Second },
		"Leased":  func() { h.Leased = true },
		"Express": func() { h.Express = true },
	} {
		change()
		err := n.Apply(t.Context())
		if e, is := errors.AsType[*nexus.Error](err); !is || !errors.Is(err, nexus.ErrInvalid) || e.Field != "Handler(x)."+field {
			t.Errorf("%s: %v, want an error that names it", field, err)
		}
		h.Name, h.Retry, h.Timeout, h.Workers = was.Name, was.Retry, was.Timeout, was.Workers
		h.Batch, h.Linger, h.Leased, h.Express = was.Batch, was.Linger, was.Leased, was.Express
	}
	apply(t, n)
	h.Workers = 1
	h.Remove()
	apply(t, n) // of one that goes nobody asks
	ends(t, h)
}

// What runs other handlers goes on as it is: what it has claimed is not given back, and in no mode does another one take its place.
//
// holds: N1-changes
func TestApplyLeavesAloneWhatDoesNotChange(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"On", "OnLeased"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			n, _, goOn, _ := claimingAhead(t, db, mode)
			var others []*node.Handler
			for name, on := range everyMode(db) {
				if name != mode {
					others = append(others, on(n, "y."+strings.ReplaceAll(name, " ", "-"), func(context.Context, pgx.Tx, *nexus.Delivery) error { return nil }))
				}
			}
			apply(t, n)
			for _, other := range others {
				other.Remove()
			}
			apply(t, n)
			goOn()
			db.Wait(queueEmpty)
			checkEffects(t, db, claimedAhead)
			if got := dbtest.Get[int](db, `select count(*)::int from public.effect where attempt <> 1 or note <> '0'`); got != 0 {
				t.Errorf("%d were given back or tried again", got)
			}
		})
	}
}

// While the database cannot do it, Apply waits; after that the node goes on as it was, and the database knows what holds.
//
// holds: N1-changes
func TestApplyWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	on := func(note string) func(context.Context, pgx.Tx, *nexus.Delivery) error {
		return func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, note) }
	}
	n.On("x", on("x"))
	start(t, n)
	db.Wait(`select count(*) = 1 from core.nodes where state = 'active'`)
	held, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Exec(t.Context(), `select from core.nodes for update`); err != nil {
		t.Fatal(err)
	}
	h := n.On("y", on("y"))
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := n.Apply(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Apply: %v, want the end of its context", err)
	}
	// As if the answer had been lost.
	db.Exec(`update core_private.node_capabilities set key = 'y'`)
	emitTypes(t, db, 2, "x", "y")
	db.Wait(`select count(*) = 1 from public.effect where note = 'x'`)
	if err := held.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	db.Wait(`select array_agg(key) = '{x}' from core_private.node_capabilities`)
	if got := dbtest.Get[int](db, `select count(*)::int from public.effect`); got != 1 {
		t.Errorf("%d effects, want that of x", got)
	}
	apply(t, n)
	db.Wait(`select count(*) = 1 from public.effect where note = 'y'`)
	h.Remove()
	apply(t, n)
	ends(t, h)
}

// A node that the database gave up registers with the handlers that it has now, whoever notices.
//
// holds: N1-changes
func TestANodeThatWasGivenUpRegistersWithItsNewHandlers(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, ID: "n"})
	on := func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") }
	n.On("x", on)
	start(t, n)
	db.Wait(`select count(*) = 1 from core.nodes where state = 'active'`)
	db.Exec(`update core.nodes set state = 'lost'`)
	db.Exec(`select core_node.reap_nodes()`)
	n.On("y", on)
	apply(t, n)
	if got := handles(db); !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("the database believes that it handles %v", got)
	}
	db.Exec(`update core.nodes set state = 'lost'`)
	db.Exec(`select core_node.reap_nodes()`)
	db.Exec(`select pg_notify('nexus_wake', 'drain:' || md5('n'))`) // which makes it send a heartbeat
	db.Wait(`select core_private.live_patterns('shop', 'default', core.now()) = '{x,y}'`)
	emitTypes(t, db, 4, "x", "y")
	db.Wait(queueEmpty)
	checkEffects(t, db, 4)
}

// Handlers come, go and change their mode under load, by several at once: each event is handled once.
//
// holds: N1-changes
func TestHandlersChangeUnderLoad(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	const types, rounds, events = 4, 12, 60
	n := node.New(db.Pool, node.Config{Namespace: ns, Workers: 4, Lease: patient})
	modes := everyMode(db)
	var names []string
	for name := range modes {
		names = append(names, name)
	}
	slices.Sort(names)
	fn := func(mode string) func(context.Context, pgx.Tx, *nexus.Delivery) error {
		return func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
			if err := effect(ctx, tx, d, mode); err != nil || mode != "OnLeased" {
				return err
			}
			return queue.Ack(ctx, tx, d)
		}
	}
	start(t, n)
	db.Wait(`select count(*) = 1 from core.nodes where state = 'active'`)
	var changing sync.WaitGroup
	var all []string
	for i := range types {
		eventType := fmt.Sprint("t", i)
		all = append(all, eventType)
		changing.Go(func() {
			var h *node.Handler
			for round := range rounds {
				if h != nil {
					h.Remove()
				}
				if round%3 == 2 { // for a moment there is none
					if err := n.Apply(t.Context()); err != nil {
						t.Errorf("Apply: %v", err)
					}
				}
				name := names[(i+round)%len(names)]
				h = modes[name](n, eventType, fn(name))
				if err := n.Apply(t.Context()); err != nil {
					t.Errorf("Apply: %v", err)
				}
			}
		})
	}
	for range rounds {
		emitTypes(t, db, events, all...)
	}
	changing.Wait()
	db.Wait(`select count(*) >= ` + fmt.Sprint(rounds*events) + ` from public.effect`)
	db.Wait(queueEmpty)
	checkEffects(t, db, rounds*events)
	if got := dbtest.Get[int](db, `select count(*)::int from core.dead_letters`); got != 0 {
		t.Errorf("%d dead letters", got)
	}
	if got := handles(db); !slices.Equal(got, all) {
		t.Errorf("the database believes that it handles %v", got)
	}
}
