package node

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/member"
	"github.com/nexuspg/nexus/internal/places"
)

const (
	ownConns = 5 // two claimers, renewal, upkeep, tick and timer; the listener has a connection besides

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
	*plan
	now      atomic.Pointer[plan] // with the handlers that the database was told last
	applying chan struct{}        // full while handlers are changed
	hosted   []*hosted            // the consumers of the plan, in its order
	runners  *runners
	session  *invoke.Session
	drained  context.Context // ends when the node begins to drain

	serving  sync.Mutex
	services []*served     // those of the node, as far as they were begun
	adding   chan struct{} // full while some begin
	fail     func(error)   // ends the run

	telling sync.Mutex  // the database is told one thing at a time about what the node can do
	gone    bool        // it was told goodbye
	untold  atomic.Bool // it may believe something else

	pool   *pgxpool.Pool // the user's
	own    *pgxpool.Pool
	member *member.Member
	values context.Context
	due    chan struct{} // something may be due on a schedule

	delayedDue chan struct{} // something that was delayed may be due

	absence feed.Absence // of tables of the queue

	teller *teller     // nil: nobody wants to know
	held   atomic.Bool // a service that does not return may have connections of own

	places, leasedPlaces *places.Places // of handlers that hold a transaction, and of those that hold none

	registered atomic.Bool // and not followed by unparking yet

	nudged chan struct{} // asks for a heartbeat now

	resetMu sync.Mutex
	reset   time.Time
}

func newRun(ctx context.Context, pool *pgxpool.Pool, p *plan) (*run, error) {
	cfg := pool.Config().Copy()
	cfg.MaxConns, cfg.MinConns, cfg.MinIdleConns = ownConns, 0, 0
	cfg.ConnConfig.RuntimeParams["application_name"] = fmt.Sprintf("nexus:%s/%s", p.Namespace, p.ID)
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
		plan: p, applying: make(chan struct{}, 1), adding: make(chan struct{}, 1), runners: newRunners(), drained: ctx,
		pool: pool, own: own, values: context.WithoutCancel(ctx), due: make(chan struct{}, 1), delayedDue: make(chan struct{}, 1), nudged: make(chan struct{}, 1),
		places: places.New(p.Workers), leasedPlaces: places.New(p.LeasedWorkers),
		member: &member.Member{Pool: own, Namespace: p.Namespace, Wanted: p.ID, Given: p.given.id},
	}
	r.now.Store(p)
	if p.OnSettled != nil {
		r.teller = newTeller(ctx, p.OnSettled, p.Logger)
	}
	return r, nil
}

func (r *run) close() {
	if r.teller != nil {
		r.teller.close()
	}
	if r.held.Load() {
		go r.own.Close() // which waits for those to come back
		return
	}
	r.own.Close()
}

// prepare makes what runs the handlers, and starts nothing. It speaks to the database.
func (r *run) prepare(ctx context.Context) (parts []*part, err error) {
	if r.session, err = r.readSession(ctx); err != nil {
		return nil, err
	}
	hosts := make([]*hosted, 0, len(r.consumers))
	for _, c := range r.consumers {
		h, err := r.host(ctx, c.name)
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, h)
	}
	r.hosted = hosts
	for i, c := range r.consumers {
		came, _ := hosts[i].change(c, r.made)
		parts = append(parts, came...)
	}
	return parts, nil
}

func (r *run) middleware() (around []invoke.Middleware) {
	for _, m := range r.Middleware {
		if m.Handle != nil {
			around = append(around, m.Handle)
		}
	}
	return around
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

	r.drained = drained

	var parts []*part
	err := r.patiently(drained, func(ctx context.Context) (err error) {
		if err = r.createConsumers(ctx); err != nil {
			return err
		}
		if !r.registered.Load() {
			if err = r.register(ctx, r.plan); err != nil {
				return err
			}
		}
		parts, err = r.prepare(ctx)
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

	for _, one := range parts {
		one.Start()
		r.runners.add(one)
	}
	if b := r.receive(); b != nil {
		b.Start()
		r.runners.add(b)
	}
	// The helpers outlive drained: handlers that are given time to finish need a node that still counts as alive.
	helping, end := context.WithCancelCause(r.values)
	r.fail = end
	services := r.adopt(n, math.MaxInt)
	state := &running{runners: r.runners, places: r.allPlaces(), poll: r.Poll, absence: &r.absence}
	n.setRunning(state, r)
	defer r.measure(n)()
	types, _ := r.types()
	log.Info("node runs", "event_types", types, "workers", r.Workers, "leased_workers", r.LeasedWorkers)

	var helpers sync.WaitGroup
	helpers.Go(func() { r.beat(helping, drained, stop, end) })
	helpers.Go(func() { r.listen(helping) })
	for _, h := range r.hosted {
		helpers.Go(func() { h.lookout.run(drained, h.looked, r.unavailable) })
	}
	helpers.Go(func() { r.upkeep(drained) })
	helpers.Go(func() { r.tick(drained) })
	helpers.Go(func() { r.timer(drained) })
	for _, s := range services {
		r.runners.add(s)
		go s.begin(drained)
	}

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
	r.runners.stop(grace)
	failure := context.Cause(helping)
	end(nil)
	helpers.Wait()
	r.sayGoodbye(r.runners.lastFetch())
	n.setRunning(nil, r)
	log.Info("node stopped")
	return failure
}

// sayGoodbye lets nobody wait for three heartbeats to find out that the node has ended.
func (r *run) sayGoodbye(fetched time.Time) {
	bye, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	r.telling.Lock()
	r.gone = true
	r.telling.Unlock()
	if _, _, err := r.member.Heartbeat(bye, "stopped", fetched); err != nil {
		r.Logger.Warn("could not say goodbye; the node counts as lost after three heartbeats", "node", r.member.ID(), "namespace", string(r.Namespace), "error", err)
	}
}

// register makes the node known, with what there is to know about it, and with the handlers of a plan.
func (r *run) register(ctx context.Context, p *plan) error {
	info := map[string]any{"pid": os.Getpid(), "go": runtime.Version(), "workers": r.Workers, "leased_workers": r.LeasedWorkers, "lease": r.Lease.String()}
	if host, err := os.Hostname(); err == nil {
		info["host"] = host
	}
	if b, ok := debug.ReadBuildInfo(); ok {
		info["version"] = b.Main.Version
		info["program"] = b.Path
	}
	if p.broadcasts != nil {
		info["broadcasts"] = p.broadcasts.Patterns()
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
	can := r.abilities(p)
	err := r.member.Register(ctx, can, info)
	if err != nil {
		return err
	}
	r.registered.Store(true)
	if len(can.Workflows)+len(can.Queues) > 0 {
		if known, err := r.member.Replace(ctx, can); err != nil || !known {
			r.untold.Store(true) // the next heartbeat says it
			return err
		}
	}
	return nil
}

// again registers the node anew, unless that was done since the life that asked.
func (r *run) again(ctx context.Context, asked uuid.UUID) error {
	r.telling.Lock()
	defer r.telling.Unlock()
	if r.member.Incarnation() != asked {
		return nil
	}
	r.Logger.Warn("the database gave this node up, registering anew", "node", r.member.ID())
	return r.register(ctx, r.now.Load())
}

// warnOfIdleLimit says beforehand what would otherwise look like failures of handlers.
func (r *run) warnOfIdleLimit(ctx context.Context) {
	if !slices.ContainsFunc(r.consumers, func(c *planned) bool { return c.handlers.Transactional() }) &&
		(r.broadcasts == nil || !r.broadcasts.Transactional()) {
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
func (r *run) beat(helping, drained context.Context, stop context.CancelFunc, end context.CancelCauseFunc) {
	state := "active"
	var said time.Time
	draining := drained.Done()
	for {
		asked := r.member.Incarnation()
		known, drain, err := r.member.Heartbeat(helping, state, r.runners.lastFetch())
		if err == nil && known && r.untold.Load() {
			err = r.tellOnce(helping, nil)
		}
		if err == nil && !known && drained.Err() == nil {
			err = r.again(helping, asked)
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
func (r *run) listen(ctx context.Context) {
	cfg := r.wake.Copy()
	cfg.RuntimeParams["application_name"] = fmt.Sprintf("nexus:%s/%s listen", r.Namespace, r.member.ID())
	var said time.Time
	for ctx.Err() == nil {
		err := member.Listen(ctx, cfg, func(key string) {
			r.runners.wake(key)
			if key == "" || key == timersKey {
				r.wakeTimer()
			}
			if key == "" || key == r.member.DrainKey() {
				// Anyone may notify, and what came before was not heard; the heartbeat asks whether it is so.
				wakeUp(r.nudged)
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
		late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil // one call took longer than it may
		if err == nil || !db.Passes(err) && !late {
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

// wakeUp leaves word for whoever waits on the channel, which has room for one.
func wakeUp(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
