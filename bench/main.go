// Command bench measures Nexus and raw pgmq side by side, in one run on one server, and prints ratios: the machine matters less to
// them than to rates.
//
//	go run ./bench [-events 100000] [-seconds 5] [-rounds 3]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/pgdev"
	"github.com/nexuspg/nexus/migrate"
	"github.com/nexuspg/nexus/queue"
)

const (
	namespace = "bench"
	rawQueue  = "raw"
	payload   = `{"id": 123456, "name": "a name of some length", "amount": 12.5, "tags": ["a", "b"], "note": "` +
		`so that the message has about the size of a real one, some two or three hundred bytes"}`
)

func main() {
	events := flag.Int("events", 100_000, "messages to consume in a round")
	seconds := flag.Duration("time", 5*time.Second, "how long to emit in a round")
	rounds := flag.Int("rounds", 3, "rounds; the median counts")
	only := flag.String("only", "", "run the comparisons whose name contains this; modes: the modes of handlers with each other")
	profile := flag.String("cpuprofile", "", "write a CPU profile of this process")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			log.Fatal(err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			log.Fatal(err)
		}
		defer pprof.StopCPUProfile()
	}
	if err := run(&bench{events: *events, time: *seconds, rounds: *rounds, only: *only}); err != nil {
		log.Fatal(err)
	}
}

func run(b *bench) (err error) {
	ctx := context.Background()
	cluster, err := pgdev.Start(ctx, pgdev.Options{CronDatabase: namespace})
	if err != nil {
		return err
	}
	defer func() {
		if stopErr := cluster.Stop(ctx); err == nil {
			err = stopErr
		}
	}()
	owner, err := open(ctx, cluster)
	if err != nil {
		return err
	}
	defer owner.Close()
	pool, err := asLogin(ctx, owner)
	if err != nil {
		return err
	}
	defer pool.Close()

	var version string
	if err := pool.QueryRow(ctx, `select format('%s, synchronous_commit %s, fsync %s', version(), current_setting('synchronous_commit'), current_setting('fsync'))`).Scan(&version); err != nil {
		return err
	}
	fmt.Printf("%s\n%d-byte payload, %d rounds, medians\n\n", version, len(payload), b.rounds)
	b.pool, b.owner = pool, owner
	return b.all(ctx)
}

// asLogin opens a pool of an ordinary login, as programs and nodes connect: for an administrator more is asked.
func asLogin(ctx context.Context, owner *pgxpool.Pool) (*pgxpool.Pool, error) {
	cfg := owner.Config()
	cfg.ConnConfig.User, cfg.ConnConfig.Password = "bench", "bench"
	_, err := owner.Exec(ctx, `create role bench login password 'bench';
		grant nexus_producer, nexus_consumer to bench;
		grant usage on schema pgmq to bench;
		grant all on pgmq.q_raw, pgmq.a_raw, pgmq.meta, pgmq.q_raw_msg_id_seq to bench`)
	if err != nil {
		return nil, err
	}
	return pgxpool.NewWithConfig(ctx, cfg)
}

func open(ctx context.Context, cluster *pgdev.Cluster) (*pgxpool.Pool, error) {
	admin, err := pgxpool.New(ctx, cluster.URL("postgres"))
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	if _, err := admin.Exec(ctx, "create database "+namespace); err != nil {
		return nil, err
	}
	cfg, err := pgxpool.ParseConfig(cluster.URL(namespace))
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = 16
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if _, err := migrate.Up(ctx, pool, nil); err != nil {
		return nil, err
	}
	if err := queue.CreateNamespace(ctx, pool, namespace, nil); err != nil {
		return nil, err
	}
	_, err = pool.Exec(ctx, "select pgmq.create($1::text)", rawQueue)
	return pool, err
}

type bench struct {
	pool   *pgxpool.Pool // of an ordinary login
	owner  *pgxpool.Pool // for what is done between the rounds
	events int
	time   time.Duration
	rounds int
	only   string
}

func (b *bench) all(ctx context.Context) error {
	if strings.Contains("modes", b.only) {
		if err := b.compareModes(ctx); err != nil {
			return err
		}
	}
	for _, c := range []int{2, 4} {
		if err := b.compare(ctx, fmt.Sprintf("consume, leased against read(50) + delete(50) on %d connections", c),
			b.leased, func(ctx context.Context) (float64, error) { return b.rawConsume(ctx, c) }); err != nil {
			return err
		}
	}
	if err := b.compare(ctx, "consume, express OnBatch against pop(50) on 2 connections", b.onBatch, b.rawPop); err != nil {
		return err
	}
	if err := b.compare(ctx, "consume, On with Express (nexus) against On (in place of pgmq)", b.on(true), b.on(false)); err != nil {
		return err
	}
	if err := b.compare(ctx, "consume, leased, 3 of 10 not acked (nexus) against all acked (in place of pgmq)", b.mixed, b.leased); err != nil {
		return err
	}
	if err := b.compare(ctx, "emit single, 8 connections, against send", b.emit(`select * from core.emit('bench', 'order.placed', $1::text::jsonb)`, 8),
		b.emit(`select pgmq.send('raw'::text, $1::text::jsonb)`, 8)); err != nil {
		return err
	}
	return b.compare(ctx, "emit batch of 1,000, 2 connections, against send_batch", b.emitBatch, b.sendBatch)
}

// compare alternates the two, so that what else the machine does hits both.
func (b *bench) compare(ctx context.Context, name string, ours, raw func(context.Context) (float64, error)) error {
	if !strings.Contains(name, b.only) {
		return nil
	}
	var a, r []float64
	for range b.rounds {
		for _, side := range []struct {
			f   func(context.Context) (float64, error)
			out *[]float64
		}{{raw, &r}, {ours, &a}} {
			rate, err := side.f(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			*side.out = append(*side.out, rate)
		}
	}
	fmt.Fprintf(os.Stdout, "%-64s nexus %8.0f/s  pgmq %8.0f/s  ratio %.2f\n", name, median(a), median(r), median(a)/median(r))
	return nil
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// onConns runs f on n connections at once and returns the first error.
func (b *bench) onConns(ctx context.Context, n int, f func(conn *pgxpool.Conn) error) error {
	return parallel(n, func() error {
		conn, err := b.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		return f(conn)
	})
}

// parallel runs f n times at once and returns the first error.
func parallel(n int, f func() error) error {
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

// emit runs one statement again and again.
func (b *bench) emit(sql string, conns int) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if err := b.empty(ctx); err != nil {
			return 0, err
		}
		var n atomic.Int64
		began := time.Now()
		err := b.onConns(ctx, conns, func(conn *pgxpool.Conn) error {
			for time.Since(began) < b.time {
				if _, err := conn.Exec(ctx, sql, payload); err != nil {
					return err
				}
				n.Add(1)
			}
			return nil
		})
		return float64(n.Load()) / time.Since(began).Seconds(), err
	}
}

// empty makes every round begin alike.
func (b *bench) empty(ctx context.Context) error {
	for _, sql := range []string{
		"truncate core.event_log, core.dead_letters, core.delivery_errors",
		"truncate pgmq.q_core_events_bench, pgmq.q_core_events_bench_dlq, pgmq.q_raw", "vacuum analyze pgmq.q_raw",
		"vacuum analyze pgmq.q_core_events_bench", "checkpoint",
	} {
		if _, err := b.owner.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}
