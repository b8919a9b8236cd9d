package node

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/batch"
	"github.com/nexuspg/nexus/internal/consume"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/member"
	"github.com/nexuspg/nexus/internal/pgmqueue"
	"github.com/nexuspg/nexus/internal/places"
)

const (
	ownConns = 5 // two claimers, renewal, upkeep, tick and timer; the listener has a connection besides

	defaultConsumer = "default" // of a node's own handlers

	// Looks for what was delayed come no closer than promoteEvery and a quarter, which is how late it may be on its queue. Looks that take long, since dead
	// rows cannot be removed yet, are followed by a rest of promoteRest times their length, which bounds their share.
	promoteEvery = 750 * time.Millisecond
	promoteRest  = 50
	longestRest  = 10 * time.Second

	tickEvery = 15 * time.Second

	// farewell bounds what is said to the database at the end.
	farewell = time.Second

	// sayEvery bounds the lines about one thing that keeps failing.
	sayEvery = 30 * time.Second
)

// run is one run of a node: its own connections and what goes on beside handlers.
type run struct {
	*settled
	pool   *pgxpool.Pool // the user's
	own    *pgxpool.Pool
	member *member.Member
	values context.Context
	due    chan struct{} // something may be due on a schedule

	delayedDue chan struct{} // something that was delayed may be due

	absence feed.Absence // of tables of the queue

	teller *teller // nil: nobody wants to know
	held   bool    // a service that does not return may have connections of own

	places, leasedPlaces *places.Places // of handlers that hold a transaction, and of those that hold none

	registered atomic.Bool // and not followed by unparking yet

	nudged chan struct{} // asks for a heartbeat now

	resetMu sync.Mutex
	reset   time.Time
}

func newRun(ctx context.Context, pool *pgxpool.Pool, s *settled) (*run, error) {
	cfg := pool.Config().Copy()
	cfg.MaxConns, cfg.MinConns, cfg.MinIdleConns = ownConns, 0, 0
	cfg.ConnConfig.RuntimeParams["application_name"] = fmt.Sprintf("nexus:%s/%s", s.Namespace, s.ID)
	users := cfg.AfterConnect
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if users != nil {
			if err := users(ctx, conn); err != nil {
				return err
			}
		}
		return db.OwnSettings(ctx, conn)
	}
	own, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, invalid("pool", "the pool's configuration does not serve a second one: "+err.Error(), "make the pool with pgxpool.NewWithConfig")
	}
	r := &run{
		settled: s, pool: pool, own: own, values: context.WithoutCancel(ctx), due: make(chan struct{}, 1), delayedDue: make(chan struct{}, 1), nudged: make(chan struct{}, 1),
		places: places.New(s.Workers), leasedPlaces: places.New(s.LeasedWorkers),
		member: &member.Member{Pool: own, Namespace: s.Namespace, Wanted: s.ID, Given: s.given.id},
	}
	if s.OnSettled != nil {
		r.teller = newTeller(ctx, s.OnSettled, s.Logger)
	}
	return r, nil
}

func (r *run) close() {
	if r.teller != nil {
		r.teller.close()
	}
	if r.held {
		go r.own.Close() // which waits for those to come back
		return
	}
	r.own.Close()
}

// newRunners needs to know the queue, so it speaks to the database.
func (r *run) newRunners(ctx context.Context) (*runners, *lookout, error) {
	queue, attempts, err := r.member.Consumer(ctx, defaultConsumer)
	if err != nil {
		return nil, nil, err
	}
	var middleware []invoke.Middleware
	for _, m := range r.Middleware {
		if m.Handle != nil {
			middleware = append(middleware, m.Handle)
		}
	}
	session, err := r.readSession(ctx)
	if err != nil {
		return nil, nil, err
	}
	turn := new(engine.Turn)
	lookout := newLookout(r.Poll,
		func(ctx context.Context) (time.Duration, error) { return r.member.Look(ctx, queue, waitFor) },
		func(ctx context.Context, d time.Duration) error { return r.member.Announce(ctx, queue, d) })
	config := func(i int, at *places.Places, hs *handlers.Handlers) (engine.Config, *pgmqueue.Deliveries) {
		source := &pgmqueue.Deliveries{
			Pool: r.own, Namespace: r.Namespace, Consumer: defaultConsumer, Queue: queue, Node: r.member.ID,
			MaxAttempts: func(eventType string) int { return hs.MaxAttemptsOf(eventType, attempts) },
		}
		return engine.Config{
			Source: source, Handlers: hs, Pool: r.pool, Session: session, Places: at, Lease: r.Lease, Poll: r.Poll, Values: r.values, Turn: turn, Absence: &r.absence,
			Middleware: middleware, Observer: r.observer(defaultConsumer, hs), Log: r.Logger, Unavailable: r.unavailable,
			Announce: func(ctx context.Context, d time.Duration) error { return lookout.announce(ctx, i, d) },
		}, source
	}
	made := new(runners)
	plain, leased, groups := r.handlers.Split()
	if plain == nil && leased == nil && len(groups) == 0 {
		plain = r.handlers // none, but a node that fetches nothing must still show that it could
	}
	for _, one := range []struct {
		hs     *handlers.Handlers
		places *places.Places
	}{{plain, r.places}, {leased, r.leasedPlaces}} {
		if one.hs != nil {
			made.add(func(i int) runner {
				cfg, _ := config(i, one.places, one.hs)
				return consume.NewLoop(cfg)
			})
		}
	}
	for _, hs := range groups {
		made.add(func(i int) runner {
			cfg, source := config(i, r.places, hs)
			return batch.New(cfg, source, r.Express)
		})
	}
	return made, lookout, nil
}

// readSession looks at a connection as handlers get it, which the node's own are not.
func (r *run) readSession(ctx context.Context) (*invoke.Session, error) {
	cfg := r.pool.Config().Copy()
	cfg.MaxConns, cfg.MinConns, cfg.MinIdleConns = 1, 0, 0
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	return invoke.ReadSession(ctx, pool)
}

func (r *run) run(ctx context.Context, n *Node) error {
	drained, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-n.drain:
			stop()
		case <-drained.Done():
		}
	}()

	var runners *runners
	var lookout *lookout
	err := r.patiently(drained, func(ctx context.Context) (err error) {
		if err = r.register(ctx); err == nil {
			runners, lookout, err = r.newRunners(ctx)
		}
		return err
	})
	if err != nil {
		if r.registered.Load() {
			r.sayGoodbye(time.Time{})
		}
		if drained.Err() != nil {
			return nil
		}
		return err
	}
	log := r.Logger.With("node", r.member.ID(), "namespace", string(r.Namespace))
	if !r.given.id && r.member.ID() != r.ID {
		log.Warn("another live node has this host's name, so this one is numbered", "host", r.ID)
	}

	r.warnOfIdleLimit(drained)
	r.warnOfSettings(drained)

	for _, one := range runners.each() {
		one.Start()
	}
	state := &running{runners: runners, places: []*places.Places{r.places, r.leasedPlaces}, poll: r.Poll, absence: &r.absence}
	n.setRunning(state)
	defer r.measure(n, state)()
	log.Info("node runs", "event_types", r.handlers.Patterns(), "workers", r.Workers, "leased_workers", r.LeasedWorkers)

	// The helpers outlive drained: handlers that are given time to finish need a node that still counts as alive.
	helping, end := context.WithCancelCause(r.values)
	var helpers sync.WaitGroup
	helpers.Go(func() { r.beat(helping, drained, runners, stop, end) })
	helpers.Go(func() { r.listen(helping, runners) })
	helpers.Go(func() {
		lookout.run(drained, func(i int, due bool) { runners.at(i).Looked(due) }, r.unavailable)
	})
	helpers.Go(func() { r.upkeep(drained) })
	helpers.Go(func() { r.tick(drained) })
	helpers.Go(func() { r.timer(drained) })
	n.mu.Lock()
	services := n.services
	n.mu.Unlock()
	serving := r.serve(drained, end, services)

	select {
	case <-drained.Done():
	case <-helping.Done():
	}
	stop()
	grace, cancel := context.WithTimeout(context.Background(), r.Grace)
	defer cancel()
	n.mu.Lock()
	if n.grace != nil {
		grace = n.grace
	}
	n.mu.Unlock()
	n.setDraining()
	log.Info("node drains")
	var stopping sync.WaitGroup
	stopping.Go(func() {
		runners.stop(grace, func(d *nexus.Delivery) {
			log.Error("a handler did not end in time, its event was given back", "event_id", d.ID, "event_type", d.Type, "message_id", d.MessageID)
		})
	})
	stopping.Go(func() {
		for _, name := range serving.stop(grace) {
			r.held = true
			log.Error("a service did not end in time, the node ends without it", "service", name)
		}
	})
	stopping.Wait()
	failure := context.Cause(helping)
	end(nil)
	helpers.Wait()
	r.sayGoodbye(runners.lastFetch())
	n.setRunning(nil)
	log.Info("node stopped")
	return failure
}

// sayGoodbye lets nobody wait for three heartbeats to find out that the node has ended.
func (r *run) sayGoodbye(fetched time.Time) {
	bye, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if _, _, err := r.member.Heartbeat(bye, "stopped", fetched); err != nil {
		r.Logger.Warn("could not say goodbye; the node counts as lost after three heartbeats", "node", r.member.ID(), "namespace", string(r.Namespace), "error", err)
	}
}

// register makes the node known, with what there is to know about it.
func (r *run) register(ctx context.Context) error {
	info := map[string]any{"pid": os.Getpid(), "go": runtime.Version(), "workers": r.Workers, "leased_workers": r.LeasedWorkers, "lease": r.Lease.String()}
	if host, err := os.Hostname(); err == nil {
		info["host"] = host
	}
	if b, ok := debug.ReadBuildInfo(); ok {
		info["version"] = b.Main.Version
		info["program"] = b.Path
	}
	if me := self(); me != (process{}) {
		info["process"] = me
		// One that ended while the database stood still said no goodbye that arrived; its session may still be there.
		var was process
		incarnation, err := r.member.Process(ctx, &was)
		if err != nil {
			return err
		}
		if was.gone(me) {
			info["gone"] = incarnation
		}
	}
	err := r.member.Register(ctx, r.handlers.Patterns(), info)
	if err == nil {
		r.registered.Store(true)
	}
	return err
}

// warnOfIdleLimit says beforehand what would otherwise look like failures of handlers.
func (r *run) warnOfIdleLimit(ctx context.Context) {
	if !r.handlers.Transactional() {
		return
	}
	limit, err := member.IdleLimit(ctx, r.pool)
	if err == nil && limit > 0 && limit < r.Lease {
		r.Logger.Warn("idle_in_transaction_session_timeout is shorter than the lease: a transactional handler that does something else for that long fails",
			"limit", limit, "lease", r.Lease)
	}
}

// warnOfSettings names defaults of the login that this node can neither work with nor change: behind a pooler, and one that takes a
// superuser.
func (r *run) warnOfSettings(ctx context.Context) {
	conn, err := r.own.Acquire(ctx)
	if err != nil {
		return
	}
	defer conn.Release()
	if found, err := db.Unsettled(ctx, conn.Conn()); err == nil && len(found) > 0 {
		r.Logger.Warn("the login or the database has defaults that a node cannot work with; give the node's login others (alter role … set)", "settings", found)
	}
}

// beat sends heartbeats until helping ends. A node that the database gave up on, because it was frozen or cut off, registers
// anew; if another one has taken the id it was given meanwhile, it must end. A node that somebody asked to drain stops.
func (r *run) beat(helping, drained context.Context, runners *runners, stop context.CancelFunc, end context.CancelCauseFunc) {
	state := "active"
	var said time.Time
	draining := drained.Done()
	for {
		known, drain, err := r.member.Heartbeat(helping, state, runners.lastFetch())
		if err == nil && !known && drained.Err() == nil {
			r.Logger.Warn("the database gave this node up, registering anew", "node", r.member.ID())
			err = r.register(helping)
			if err == nil {
				continue
			}
			if errors.Is(err, nexus.ErrConflict) {
				end(err)
				return
			}
		}
		if err == nil && drain && drained.Err() == nil {
			r.Logger.Info("an operator asked this node to drain", "node", r.member.ID())
			stop()
		}
		wait := r.member.Every()
		if err != nil && helping.Err() == nil {
			if time.Since(said) > sayEvery {
				said = time.Now()
				r.Logger.Warn("heartbeat failed, trying on", "node", r.member.ID(), "error", err)
			}
			wait = min(wait, time.Second+rand.N(time.Second))
			r.unavailable(err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-helping.Done():
		case <-draining:
		case <-r.nudged:
		case <-timer.C:
		}
		timer.Stop()
		if helping.Err() != nil {
			return
		}
		if drained.Err() != nil {
			state, draining = "draining", nil
		}
	}
}

// listen hears wake-ups. Without it events are found by polling, only later.
func (r *run) listen(ctx context.Context, runners *runners) {
	cfg := r.wake.Copy()
	cfg.RuntimeParams["application_name"] = fmt.Sprintf("nexus:%s/%s listen", r.Namespace, r.member.ID())
	var said time.Time
	for ctx.Err() == nil {
		err := member.Listen(ctx, cfg, func(key string) {
			runners.wake(key)
			if key == "" || key == timersKey {
				r.wakeTimer()
			}
			if key == "" || key == r.member.DrainKey() {
				// Anyone may notify, and what came before was not heard; the heartbeat asks whether it is so.
				select {
				case r.nudged <- struct{}{}:
				default:
				}
			}
		})
		if ctx.Err() == nil && time.Since(said) > sayEvery {
			said = time.Now()
			r.Logger.Warn("cannot listen for wake-ups, polling goes on", "error", err)
		}
		pause(ctx, nil, time.Second+rand.N(2*time.Second))
	}
}

// upkeep promotes delayed events when they are due, for all. After each registration it brings back what waited for a node that handles
// it.
func (r *run) upkeep(ctx context.Context) {
	var said time.Time
	for {
		began := time.Now()
		moved, next, err := r.member.Promote(ctx)
		wait := promoteEvery + rand.N(promoteEvery/4)
		if moved == 0 {
			wait = max(wait, min(promoteRest*time.Since(began), longestRest))
		}
		if err == nil && r.registered.Load() {
			r.registered.Store(false)
			var more bool
			if more, err = r.member.Unpark(ctx); more || err != nil {
				r.registered.Store(true)
			}
			if more {
				wait = 0
			}
		}
		if err != nil && ctx.Err() == nil {
			r.unavailable(err)
			if time.Since(said) > sayEvery {
				said = time.Now()
				r.Logger.Warn("upkeep failed, trying on", "error", err)
			}
		}
		if !pause(ctx, nil, wait) {
			return
		}
		if rest := min(next, longestIdle) - wait; err == nil && wait > 0 && rest > 0 && !pause(ctx, r.delayedDue, rest) {
			return
		}
	}
}

// tick does now and then the upkeep of all that is due. What is urgent does not wait for it.
func (r *run) tick(ctx context.Context) {
	var said time.Time
	for {
		if err := r.member.Tick(ctx); err != nil && ctx.Err() == nil {
			r.unavailable(err)
			if time.Since(said) > sayEvery {
				said = time.Now()
				r.Logger.Warn("the tick failed, trying on", "error", err)
			}
		}
		if !pause(ctx, nil, tickEvery+rand.N(5*time.Second)) {
			return
		}
	}
}

// patiently repeats f while the database is away, or what it says passes by itself: a lock that was not to be had, a race that was lost.
func (r *run) patiently(ctx context.Context, f func(context.Context) error) error {
	var said time.Time
	for tries := 1; ; tries++ {
		err := f(ctx)
		if err == nil || !db.Passes(err) {
			return err
		}
		if time.Since(said) > sayEvery {
			said = time.Now()
			if db.Unavailable(err) {
				r.Logger.Warn("the database is not available, waiting for it", "error", err)
			} else {
				r.Logger.Warn("the database cannot do it now, trying on", "error", err)
			}
		}
		r.unavailable(err)
		d := min(100*time.Millisecond<<min(tries, 6), 5*time.Second)
		if !pause(ctx, nil, d/2+rand.N(d)) {
			return ctx.Err()
		}
	}
}

// unavailable drops the connections to a server that is away, read-only or shutting down, so that the next ones go where the
// service is now. Once a second is enough, however many find out.
func (r *run) unavailable(err error) {
	if !db.Unavailable(err) {
		return
	}
	r.resetMu.Lock()
	defer r.resetMu.Unlock()
	if time.Since(r.reset) < time.Second {
		return
	}
	r.reset = time.Now()
	r.own.Reset()
	r.pool.Reset()
}

// pause waits d, shorter if early is closed; false means that ctx has ended.
func pause(ctx context.Context, early <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-early:
	case <-t.C:
	}
	return true
}
