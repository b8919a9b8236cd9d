package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/deadletter"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/schedule"
)

// round is one attack, from the first node to the verdict.
type round struct {
	*server
	Options
	number     int
	planted    *plant
	namespaces []nexus.Namespace
	fleet      *fleet
	app        *pgxpool.Pool // of emitters
	tell       func(format string, args ...any)
	counts     map[string]int // what struck, by name
	countsMu   sync.Mutex
}

// restPatience bounds the wait until everything has come to rest, once all is healed. A killer needs its attempts, each followed by a
// lease and a new process.
const restPatience = 3 * time.Minute

func (a *round) some(r *rand.Rand) nexus.Namespace { return a.namespaces[r.IntN(len(a.namespaces))] }

// play attacks, heals and waits until all has come to rest. What it returns is what went wrong with the attack itself, or what did not
// come to rest; the rest is for the checker.
func (a *round) play(ctx context.Context, r *rand.Rand) (err error) {
	dir, err := os.MkdirTemp("", "nexus-chaos-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := a.prepare(ctx); err != nil {
		return err
	}
	a.fleet = &fleet{command: a.Worker, dir: dir, urls: a.urls, direct: a.urls[routeDirect], leaky: a.planted != nil && a.planted.leaky}
	defer func() {
		a.fleet.close(ctx)
		err = errors.Join(err, a.record(context.WithoutCancel(ctx), dir), errors.Join(a.fleet.faults...))
	}()
	for i, ns := range a.namespaces {
		routes := []string{routeProxy, routeDirect}
		if i == 0 {
			routes = append(routes, routePooler)
		}
		for _, route := range routes {
			if a.urls[route] == "" {
				continue
			}
			if err := a.fleet.add(ns, route); err != nil {
				return err
			}
		}
	}
	if a.app, err = a.connect(ctx, routeDirect); err != nil {
		return err
	}
	defer a.app.Close()
	if err := a.attack(ctx, r); err != nil {
		return err
	}
	return a.rest(ctx)
}

func (a *round) connect(ctx context.Context, route string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(a.urls[route])
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = 6
	return pgxpool.NewWithConfig(ctx, cfg)
}

// prepare makes the namespaces and their tasks.
func (a *round) prepare(ctx context.Context) error {
	for _, letter := range []string{"a", "b"} {
		ns := nexus.Namespace(fmt.Sprintf("c%d%s", a.number, letter))
		a.namespaces = append(a.namespaces, ns)
		if err := queue.CreateNamespace(ctx, a.owner, ns, nil); err != nil {
			return err
		}
		if letter == "b" {
			if _, err := queue.AlterConsumer(ctx, a.owner, ns, "default", queue.ConsumerChange{Levels: 3}); err != nil {
				return err
			}
		}
		for _, overlap := range []schedule.Overlap{schedule.Allow, schedule.Skip} {
			task := schedule.Task{Namespace: ns, Name: "every " + string(overlap), Cron: "@every 1s", Type: "on.tick", Payload: script{Do: doOK}, Overlap: overlap}
			if _, err := schedule.ScheduleTask(ctx, a.owner, task); err != nil {
				return err
			}
		}
	}
	return nil
}

// attack emits and strikes until the time of the round is over and everything was emitted, and heals.
func (a *round) attack(ctx context.Context, r *rand.Rand) error {
	length := a.Length
	list := emissions(r, a.number, a.Events, a.namespaces, !a.NoKillers)
	picked := pickFaults(r, a.Faults, a.Strikes)
	over := make(chan struct{})
	var sent atomic.Int64
	next := make(chan transaction)
	var working sync.WaitGroup
	failures := make(chan error, emitters+1)
	failing, fail := context.WithCancel(ctx)
	defer fail()
	for i := range emitters {
		route := routeDirect
		if i == 0 {
			route = routeProxy
		}
		pool := a.app
		if route != routeDirect {
			through, err := a.connect(ctx, route)
			if err != nil {
				return err
			}
			defer through.Close()
			pool = through
		}
		working.Go(func() {
			if err := (emitter{pool, over, &sent}).run(failing, next); err != nil {
				failures <- err
				fail()
			}
		})
	}
	working.Go(func() {
		defer close(next)
		gap := length / time.Duration(len(list)+1)
		for _, t := range list {
			select {
			case next <- t:
			case <-failing.Done():
				return
			}
			select {
			case <-over:
			default:
				_ = pause(failing, gap, false)
			}
		}
	})

	var striking sync.WaitGroup
	began := time.Now()
	for i, f := range picked {
		seed := rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))
		at := time.Duration(float64(length) * (float64(i) + seed.Float64()) / float64(len(picked)+1))
		striking.Go(func() {
			if pause(failing, time.Until(began.Add(at)), false) != nil {
				return
			}
			a.count(f.name)
			if err := f.strike(failing, a, seed); err != nil && a.Verbose {
				a.tell("%s: %v", f.name, err)
			}
		})
	}
	striking.Wait()
	_ = pause(failing, time.Until(began.Add(length)), false)
	close(over)
	if err := a.heal(ctx); err != nil {
		return err
	}
	working.Wait()
	close(failures)
	var errs []error
	for err := range failures {
		errs = append(errs, err)
	}
	return errors.Join(append(errs, ctx.Err())...)
}

const emitters = 3

func (a *round) count(name string) {
	a.countsMu.Lock()
	defer a.countsMu.Unlock()
	a.counts[name]++
}

// heal takes back what the faults changed and left.
func (a *round) heal(ctx context.Context) error {
	a.serverMu.Lock()
	defer a.serverMu.Unlock()
	a.proxy.set(false, false, 0)
	return a.patiently(ctx, "heal", func(ctx context.Context) error {
		if _, err := a.owner.Exec(ctx, "alter role "+login+" reset all"); err != nil {
			return err
		}
		for _, ns := range a.namespaces {
			for _, overlap := range []string{"allow", "skip"} {
				if err := schedule.PauseTask(ctx, a.owner, ns, "every "+overlap); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// patiently repeats what a server that recovers may refuse.
func (a *round) patiently(ctx context.Context, what string, f func(context.Context) error) error {
	for deadline := time.Now().Add(time.Minute); ; {
		err := f(ctx)
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: %w", what, err)
		}
		if err := pause(ctx, 200*time.Millisecond, false); err != nil {
			return err
		}
	}
}

// rest waits until nothing is left to do, mends what was stuck, replays it, and waits again.
func (a *round) rest(ctx context.Context) error {
	if err := a.quiet(ctx); err != nil {
		return err
	}
	for _, ns := range a.namespaces {
		if err := a.exec(ctx, `insert into chaos.mended values ($1)`, ns); err != nil {
			return err
		}
		if err := a.replayTwice(ctx, ns); err != nil {
			return err
		}
	}
	return a.quiet(ctx)
}

// unrest is what is still to be done: on queues, delayed, scheduled.
const unrest = `select coalesce(string_agg(u.what, ', '), '') from (
	select format('%s of %s', m.queue_length + m.delayed + m.parked, m.queue_name) as what
	  from core.queue_metrics m join core.queues q using (queue_name)
	 where q.namespace = any ($1) and q.consumer_id is not null and m.queue_length + m.delayed + m.parked > 0
	union all
	select format('%s scheduled in %s', count(*), e.namespace) from core.pending_scheduled_events e where e.namespace = any ($1) group by e.namespace
	) u`

func (a *round) quiet(ctx context.Context) error {
	deadline := time.Now().Add(restPatience)
	var left string
	var failure error
	for {
		failure = a.owner.QueryRow(ctx, unrest, a.namespaces).Scan(&left)
		if failure == nil && left == "" {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: after %s there are still %s (last error: %v)", errNoRest, restPatience, left, failure) //nolint:errorlint // it may be nil
		}
		if err := pause(ctx, 200*time.Millisecond, false); err != nil {
			return err
		}
	}
}

var errNoRest = errors.New("no rest")

// record puts what our own side knows beside the ledger.
func (a *round) record(ctx context.Context, dir string) error {
	conn, err := a.owner.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if err := loadJournals(ctx, conn.Conn(), dir); err != nil {
		return err
	}
	for _, d := range a.fleet.deaths {
		if _, err := conn.Exec(ctx, `insert into chaos.deaths values ($1, $2, $3, $4)`, d.pid, d.ns, d.why, d.at); err != nil {
			return err
		}
	}
	for _, t := range a.fleet.troubles {
		if _, err := conn.Exec(ctx, `insert into chaos.troubles values ($1, nullif($2, 0), $3, $4)`, t.what, t.pid, t.from, t.to); err != nil {
			return err
		}
	}
	_, err = conn.Exec(ctx, `analyze chaos.journal, chaos.emitted, chaos.effects, chaos.deaths`)
	return err
}

// leftDead discards what is dead and understood, so that rounds don't look at what earlier ones left.
func (a *round) leftDead(ctx context.Context) error {
	for _, ns := range a.namespaces {
		if _, err := deadletter.DiscardAll(ctx, a.owner, deadletter.Filter{Namespace: ns}, "judged by chaos", nil); err != nil {
			return err
		}
	}
	return nil
}

// names of all faults, for the command line.
func faultNames() []string {
	var names []string
	for _, f := range faults {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names
}
