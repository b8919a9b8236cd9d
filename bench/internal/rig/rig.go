// Package rig is what every comparison stands on: a Postgres of its own with Nexus installed, an ordinary login, and two ways to do
// the same that run by turns.
package rig

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/pgdev"
	"github.com/nexuspg/nexus/migrate"
)

// Payload is of about the size of a real one.
const Payload = `{"id": 123456, "name": "a name of some length", "amount": 12.5, "tags": ["a", "b"], "note": "` +
	`so that the message has about the size of a real one, some two or three hundred bytes"}`

// database is also the name of the login.
const database = "bench"

// A Rig has two pools to one database.
type Rig struct {
	Pool   *pgxpool.Pool // of an ordinary login, as programs and nodes connect: for an administrator more is asked
	Owner  *pgxpool.Pool // for what is done between the rounds
	Rounds int
	Time   time.Duration // how long a way runs in a round, where it is bounded by time
	Only   string        // comparisons whose name does not contain it are left out

	cluster *pgdev.Cluster
}

// Start starts the server, installs Nexus and prints what is measured on.
func (r *Rig) Start(ctx context.Context) error {
	cluster, err := pgdev.Start(ctx, pgdev.Options{CronDatabase: database})
	if err != nil {
		return err
	}
	r.cluster = cluster
	if err := r.install(ctx); err != nil {
		return err
	}
	var version string
	if err := r.Pool.QueryRow(ctx, `select format('%s, synchronous_commit %s, fsync %s', version(), current_setting('synchronous_commit'), current_setting('fsync'))`).Scan(&version); err != nil {
		return err
	}
	fmt.Printf("%s\n%d-byte payload, %d rounds, medians\n\n", version, len(Payload), r.Rounds)
	return nil
}

func (r *Rig) install(ctx context.Context) error {
	admin, err := pgxpool.New(ctx, r.cluster.URL("postgres"))
	if err != nil {
		return err
	}
	defer admin.Close()
	if _, err := admin.Exec(ctx, "create database "+database); err != nil {
		return err
	}
	cfg, err := pgxpool.ParseConfig(r.cluster.URL(database))
	if err != nil {
		return err
	}
	cfg.MaxConns = 16
	if r.Owner, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return err
	}
	if _, err := migrate.Up(ctx, r.Owner, nil); err != nil {
		return err
	}
	login := cfg.Copy()
	login.ConnConfig.User, login.ConnConfig.Password = database, database
	if _, err := r.Owner.Exec(ctx, `create role bench login password 'bench';
		grant nexus_producer, nexus_consumer to bench;
		grant usage on schema pgmq to bench;
		grant select on pgmq.meta to bench`); err != nil {
		return err
	}
	r.Pool, err = pgxpool.NewWithConfig(ctx, login)
	return err
}

// Close stops the server.
func (r *Rig) Close(ctx context.Context) error {
	for _, pool := range []*pgxpool.Pool{r.Pool, r.Owner} {
		if pool != nil {
			pool.Close()
		}
	}
	if r.cluster == nil {
		return nil
	}
	return r.cluster.Stop(ctx)
}

// Exec runs statements as the owner.
func (r *Rig) Exec(ctx context.Context, statements ...string) error {
	for _, sql := range statements {
		if _, err := r.Owner.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// A Way does something for a while and returns how often a second.
type Way func(context.Context) (float64, error)

// Compare prints the medians of two ways and their ratio. They alternate, so that what else the machine does hits both.
func (r *Rig) Compare(ctx context.Context, name string, ours Way, theirName string, theirs Way) error {
	if !strings.Contains(name, r.Only) {
		return nil
	}
	var a, b []float64
	for range r.Rounds {
		for _, side := range []struct {
			way Way
			out *[]float64
		}{{theirs, &b}, {ours, &a}} {
			rate, err := side.way(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			*side.out = append(*side.out, rate)
		}
	}
	fmt.Fprintf(os.Stdout, "%-64s nexus %8.0f/s  %s %8.0f/s  ratio %.2f\n", name, Median(a), theirName, Median(b), Median(a)/Median(b))
	return nil
}

// Median sorts v.
func Median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// Repeat calls f on conns goroutines until r.Time is over, and counts each call per times.
func (r *Rig) Repeat(conns, per int, f func() error) (float64, error) {
	var n atomic.Int64
	began := time.Now()
	err := Parallel(conns, func() error {
		for time.Since(began) < r.Time {
			if err := f(); err != nil {
				return err
			}
			n.Add(int64(per))
		}
		return nil
	})
	return float64(n.Load()) / time.Since(began).Seconds(), err
}

// OnConns runs f on n connections at once and returns the first error.
func (r *Rig) OnConns(ctx context.Context, n int, f func(conn *pgxpool.Conn) error) error {
	return Parallel(n, func() error {
		conn, err := r.Pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		return f(conn)
	})
}

// Parallel runs f n times at once and returns the first error.
func Parallel(n int, f func() error) error {
	var wg sync.WaitGroup
	errs := make(chan error, n)
	for range n {
		wg.Go(func() { errs <- f() })
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
