// Command bench measures Nexus and raw pgmq side by side, in one run on one server, and prints ratios: the machine matters less to
// them than to rates. Other systems are in bench/peers, a module of its own.
//
//	go run ./bench [-events 100000] [-time 5s] [-rounds 3] [-only emit]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/nexuspg/nexus/bench/internal/rig"
	"github.com/nexuspg/nexus/queue"
)

const (
	namespace = "bench"
	rawQueue  = "raw"
)

func main() {
	r := &rig.Rig{}
	b := &bench{Rig: r}
	flag.IntVar(&b.events, "events", 100_000, "messages to consume in a round")
	flag.DurationVar(&r.Time, "time", 5*time.Second, "how long to emit in a round")
	flag.IntVar(&r.Rounds, "rounds", 3, "rounds; the median counts")
	flag.StringVar(&r.Only, "only", "", "run the comparisons whose name contains this; modes: the modes of handlers with each other")
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
	if err := run(context.Background(), b); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, b *bench) (err error) {
	defer func() {
		if stopErr := b.Close(ctx); err == nil {
			err = stopErr
		}
	}()
	if err := b.Start(ctx); err != nil {
		return err
	}
	if err := queue.CreateNamespace(ctx, b.Owner, namespace, nil); err != nil {
		return err
	}
	if err := b.Exec(ctx, "select pgmq.create('raw')", "grant all on pgmq.q_raw, pgmq.a_raw, pgmq.q_raw_msg_id_seq to bench"); err != nil {
		return err
	}
	return b.all(ctx)
}

type bench struct {
	*rig.Rig
	events int
	queues int // outbox queues made so far
}

func (b *bench) all(ctx context.Context) error {
	if strings.Contains("modes", b.Only) {
		if err := b.compareModes(ctx); err != nil {
			return err
		}
	}
	for _, c := range []int{2, 4} {
		err := b.Compare(ctx, fmt.Sprintf("consume, leased against read(50) + delete(50) on %d connections", c),
			b.leased, "pgmq", func(ctx context.Context) (float64, error) { return b.rawConsume(ctx, c) })
		if err != nil {
			return err
		}
	}
	for _, c := range []struct {
		name      string
		ours      rig.Way
		theirName string
		theirs    rig.Way
	}{
		{"consume, express OnBatch against pop(50) on 2 connections", b.onBatch, "pgmq", b.rawPop},
		{"consume, On with Express against On", b.on(true), "On", b.on(false)},
		{"consume, leased, 3 of 10 not acked, against all acked", b.mixed, "acked", b.leased},
		{"emit single, 8 connections, against send", b.emit(`select * from core.emit('bench', 'order.placed', $1::text::jsonb)`, 8),
			"pgmq", b.emit(`select pgmq.send('raw'::text, $1::text::jsonb)`, 8)},
		{"emit batch of 1,000, 2 connections, against send_batch", b.emitBatch, "pgmq", b.sendBatch},
		{"emit single, 10 consumers of which 1 matches, against that 1", b.emitTo(10), "one", b.emitTo(1)},
		{"emit batch of 1,000, 10 consumers of which 1 matches, against that 1", b.emitBatchTo(10), "one", b.emitBatchTo(1)},
		{"request to reply, one caller, against the pickup of an event (one in the median)", b.requests, "pickup", b.pickups},
		{"outbox, enqueue single, 4 connections, against emit single", b.enqueue(1), "emit", b.emitBy(1)},
		{"outbox, enqueue by 20, 4 connections, against emit by 20", b.enqueue(20), "emit", b.emitBy(20)},
		{"outbox, enqueue by 100, 4 connections, against emit by 100", b.enqueue(100), "emit", b.emitBy(100)},
		{"outbox, end to end, 8 lanes leased, by 20, against enqueue alone", b.endToEnd(20), "enqueue", b.enqueue(20)},
		{"outbox, end to end, 8 lanes leased, by 100, against enqueue alone", b.endToEnd(100), "enqueue", b.enqueue(100)},
		{"outbox, end to end, by 100, a snapshot held and a million behind it, against none", b.held(100), "none", b.endToEnd(100)},
		{"workflow steps, 50 runs at once, against 2", b.steps(50, false, empty), "two", b.steps(2, false, empty)},
		{"workflow steps in transactions, 10 runs at once, against 50 leased", b.steps(10, true, empty), "leased", b.steps(50, false, empty)},
		{"workflow steps, 2 runs at once, that return 1 KB, against little", b.steps(2, false, strings.Repeat("x", 1000)), "little", b.steps(2, false, empty)},
		{"workflow starts, 4 connections, against emit single", b.starts(4),
			"emit", b.emit(`select * from core.emit('bench', 'order.placed', $1::text::jsonb)`, 4)},
		{"workflow runs due at once, by 1,000, against starts on 1 connection", b.due, "starts", b.starts(1)},
		{"drain 5 consumers of each event, against 1 consumer", b.drain(5), "one", b.drain(1)},
	} {
		if err := b.Compare(ctx, c.name, c.ours, c.theirName, c.theirs); err != nil {
			return err
		}
	}
	return nil
}

// emit runs one statement again and again.
func (b *bench) emit(sql string, conns int) rig.Way {
	return func(ctx context.Context) (float64, error) {
		if err := b.empty(ctx); err != nil {
			return 0, err
		}
		return b.Repeat(conns, 1, func() error {
			_, err := b.Pool.Exec(ctx, sql, rig.Payload)
			return err
		})
	}
}

// empty makes every round begin alike.
func (b *bench) empty(ctx context.Context) error {
	return b.Exec(ctx,
		"truncate core.event_log, core.dead_letters, core.delivery_errors",
		"truncate pgmq.q_core_events_bench, pgmq.q_core_events_bench_dlq, pgmq.q_raw", "vacuum analyze pgmq.q_raw",
		"vacuum analyze pgmq.q_core_events_bench", "checkpoint")
}
