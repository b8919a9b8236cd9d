package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/deadletter"
	"github.com/nexuspg/nexus/migrate"
)

// fault is one kind of harm. It ends when it has struck and, where it lasts, when it is over.
type fault struct {
	name   string
	weight int
	strike func(ctx context.Context, a *round, r *rand.Rand) error
}

func between(r *rand.Rand, low, high int) time.Duration {
	return time.Duration(low+r.IntN(high-low)) * time.Millisecond
}

// faults are all kinds, each drawn as often as its weight says.
var faults = []fault{
	{"kill", 5, func(_ context.Context, a *round, r *rand.Rand) error {
		if p := a.fleet.some(r); p != nil {
			a.fleet.kill(p)
		}
		return nil
	}},
	{"kill-all", 1, func(_ context.Context, a *round, r *rand.Rand) error {
		for range len(a.fleet.places) {
			if p := a.fleet.some(r); p != nil {
				a.fleet.kill(p)
			}
		}
		return nil
	}},
	{"freeze-short", 2, freeze(200, 900)},
	{"freeze-long", 3, freeze(2500, 5000)},
	{"deploy", 4, func(ctx context.Context, a *round, r *rand.Rand) error {
		if p := a.fleet.some(r); p != nil {
			return a.fleet.deploy(ctx, p)
		}
		return nil
	}},
	{"handlers", 4, func(_ context.Context, a *round, r *rand.Rand) error { // change while it runs
		if p := a.fleet.some(r); p != nil {
			_, _ = io.WriteString(p.input, "handlers\n") // it may have ended
		}
		return nil
	}},
	{"levels", 3, func(ctx context.Context, a *round, r *rand.Rand) error {
		return a.exec(ctx, "select core.alter_consumer($1, 'default', p_options => jsonb_build_object('levels', $2::int))", string(a.some(r)), 1+r.IntN(4))
	}},
	{"server-crash", 2, func(ctx context.Context, a *round, r *rand.Rand) error {
		return a.restart(ctx, true, between(r, 0, 1500))
	}},
	{"server-restart", 1, func(ctx context.Context, a *round, r *rand.Rand) error {
		return a.restart(ctx, false, between(r, 0, 500))
	}},
	{"terminate", 4, func(ctx context.Context, a *round, r *rand.Rand) error {
		return a.exec(ctx, `select count(pg_terminate_backend(pid)) from (select pid from pg_stat_activity where usename = $1 order by md5(pid::text || $2) limit $3) x`,
			login, fmt.Sprint(r.Uint64()), 1+r.IntN(12))
	}},
	{"stall", 3, network(true, true, false)},
	{"stall-cut", 3, network(true, true, true)},
	{"cut-answers", 8, network(false, true, true)},
	{"cut-settle", 8, func(ctx context.Context, a *round, r *rand.Rand) error {
		a.proxy.aimAt(1 + r.IntN(8))
		defer a.proxy.aimAt(0)
		return pause(ctx, between(r, 200, 1500), false)
	}},
	{"cut", 3, func(_ context.Context, a *round, _ *rand.Rand) error {
		a.proxy.cut()
		return nil
	}},
	{"delay", 2, func(ctx context.Context, a *round, r *rand.Rand) error {
		a.proxy.set(false, false, between(r, 5, 60))
		defer a.proxy.set(false, false, 0)
		return pause(ctx, between(r, 500, 2500), false)
	}},
	{"lock-queue", 2, func(ctx context.Context, a *round, r *rand.Rand) error {
		mode := []string{"access exclusive", "share row exclusive", "share"}[r.IntN(3)]
		return a.holding(ctx, between(r, 300, 2800), "lock table pgmq."+pgx.Identifier{"q_core_events_" + string(a.some(r))}.Sanitize()+" in "+mode+" mode")
	}},
	{"lock-rows", 3, func(ctx context.Context, a *round, r *rand.Rand) error {
		return a.holding(ctx, between(r, 300, 2800), "select count(*) from (select from pgmq."+pgx.Identifier{"q_core_events_" + string(a.some(r))}.Sanitize()+" where random() < 0.5 for update skip locked) x")
	}},
	{"lock-log", 1, func(ctx context.Context, a *round, r *rand.Rand) error {
		return a.holding(ctx, between(r, 300, 1500), "lock table core.event_log in share row exclusive mode")
	}},
	{"lock-nodes", 1, func(ctx context.Context, a *round, r *rand.Rand) error {
		return a.holding(ctx, between(r, 300, 2500), "select count(*) from (select from core.nodes for update) x")
	}},
	{"snapshot", 2, func(ctx context.Context, a *round, r *rand.Rand) error {
		return a.holding(ctx, between(r, 2000, 6000), "select count(*) from core.event_log")
	}},
	{"settings", 2, changeSettings(
		"timezone = 'America/St_Johns'", "datestyle = 'SQL, DMY'", "intervalstyle = 'sql_standard'", "extra_float_digits = -5", "bytea_output = 'escape'",
		"standard_conforming_strings = off", "search_path = 'public'", "jit = on", "enable_indexscan = off", "client_min_messages = 'debug1'",
		"statement_timeout = '2s'", "lock_timeout = '500ms'")},
	{"isolation", 1, changeSettings("default_transaction_isolation = 'repeatable read'", "default_transaction_isolation = 'serializable'")},
	{"migrate", 2, func(ctx context.Context, a *round, _ *rand.Rand) error {
		_, err := migrate.Up(ctx, a.owner, &migrate.Options{Repair: a.planted == nil, LockTimeout: 5 * time.Second})
		return err
	}},
	{"lost-claim", 3, func(ctx context.Context, a *round, r *rand.Rand) error { return a.loseClaims(ctx, r) }},
	{"scheduler", 1, func(ctx context.Context, a *round, r *rand.Rand) error {
		return a.exec(ctx, "select core.alter_scheduler(jsonb_build_object('scheduler', $1::text))", []string{"nodes", "auto", "pg_cron"}[r.IntN(3)])
	}},
	{"drain", 2, func(ctx context.Context, a *round, _ *rand.Rand) error {
		return a.exec(ctx, "select core.drain_node(node_id, 'chaos') from core.node_status where alive and namespace = any ($1) order by random() limit 1", a.namespaces)
	}},
	{"sweep", 2, func(ctx context.Context, a *round, r *rand.Rand) error {
		return a.exec(ctx, "select core.run_sweep($1)", []string{"set_aside", "park", "partitions", "express"}[r.IntN(4)])
	}},
	{"replay", 4, func(ctx context.Context, a *round, r *rand.Rand) error { return a.replayTwice(ctx, a.some(r)) }},
}

func freeze(low, high int) func(context.Context, *round, *rand.Rand) error {
	return func(ctx context.Context, a *round, r *rand.Rand) error {
		if p := a.fleet.some(r); p != nil {
			return a.fleet.freeze(ctx, p, between(r, low, high))
		}
		return nil
	}
}

// changeSettings gives the login another default, which new sessions have, and ends some of the old ones.
func changeSettings(all ...string) func(context.Context, *round, *rand.Rand) error {
	return func(ctx context.Context, a *round, r *rand.Rand) error {
		if err := a.exec(ctx, "alter role "+login+" set "+all[r.IntN(len(all))]); err != nil {
			return err
		}
		return a.exec(ctx, `select count(pg_terminate_backend(pid)) from (select pid from pg_stat_activity where usename = $1 order by random() limit 8) x`, login)
	}
}

// network lets the traffic stand still for a while, both ways or that of the server's answers alone, and then go on or end.
func network(there, back, cut bool) func(context.Context, *round, *rand.Rand) error {
	return func(ctx context.Context, a *round, r *rand.Rand) error {
		from := time.Now()
		defer func() { a.fleet.disturb("network", from) }()
		a.proxy.set(there, back, 0)
		defer a.proxy.set(false, false, 0)
		low, high := 300, 3500
		if !there {
			low, high = 150, 900
		}
		err := pause(ctx, between(r, low, high), false)
		if cut {
			a.proxy.cut()
		}
		return err
	}
}

// exec runs one statement as superuser.
func (a *round) exec(ctx context.Context, sql string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_, err := a.owner.Exec(ctx, sql, args...)
	return err
}

// holding keeps what a statement locks, or the snapshot it saw, for a while.
func (a *round) holding(ctx context.Context, d time.Duration, sql string) error {
	if strings.HasPrefix(sql, "lock") || strings.Contains(sql, "for update") {
		from := time.Now()
		defer func() { a.fleet.disturb("lock", from) }()
	}
	return pgx.BeginTxFunc(ctx, a.owner, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local lock_timeout = '5s'"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
		return pause(ctx, d, false)
	})
}

// restart takes the server away for a while.
func (a *round) restart(ctx context.Context, crash bool, away time.Duration) error {
	a.serverMu.Lock()
	defer a.serverMu.Unlock()
	from := time.Now()
	defer func() { a.fleet.disturb("server away", from) }()
	if crash {
		if err := a.cluster.Kill(); err != nil {
			return err
		}
		if err := pause(ctx, away, false); err != nil {
			return errors.Join(err, a.cluster.Restart(context.WithoutCancel(ctx), nil))
		}
	}
	return a.cluster.Restart(context.WithoutCancel(ctx), nil)
}

// loseClaims sets what is leased back to what a server would know that lost the commit of the claim. What it did not lose is the node,
// which goes on with the lease it believes to have.
func (a *round) loseClaims(ctx context.Context, r *rand.Rand) error {
	ns := a.some(r)
	from := time.Now()
	defer func() { a.fleet.disturb("claims lost", from) }()
	return a.exec(ctx, `with hit as (select msg_id from pgmq.`+pgx.Identifier{"q_core_events_" + string(ns)}.Sanitize()+`
			where read_ct = 1 and vt > now() and vt <= now() + interval '2 seconds' and not coalesce(headers ? 'nexus-due', false) for update skip locked)
		update pgmq.`+pgx.Identifier{"q_core_events_" + string(ns)}.Sanitize()+` q set read_ct = 0, last_read_at = null, vt = enqueued_at from hit where q.msg_id = hit.msg_id`)
}

// replayTwice is two operators who press the same button.
func (a *round) replayTwice(ctx context.Context, ns nexus.Namespace) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	results := make(chan error, 2)
	for range 2 {
		go func() {
			var errs []error
			for _, reason := range replayed {
				_, err := deadletter.ReplayAll(ctx, a.owner, deadletter.Filter{Namespace: ns, Reason: reason}, nil, nil)
				errs = append(errs, err)
			}
			results <- errors.Join(errs...)
		}()
	}
	return errors.Join(<-results, <-results)
}

// pickFaults draws the kinds that a round has.
func pickFaults(r *rand.Rand, names []string, n int) []fault {
	var bag []fault
	for _, f := range faults {
		if len(names) > 0 && !slices.Contains(names, f.name) {
			continue
		}
		for range f.weight {
			bag = append(bag, f)
		}
	}
	if len(bag) == 0 {
		return nil
	}
	picked := make([]fault, n)
	for i := range picked {
		picked[i] = bag[r.IntN(len(bag))]
	}
	return picked
}
