// Command peers measures Nexus beside other systems for Go and Postgres, in one run on one server. It is a module of its own, so that
// nobody who uses Nexus gets their dependencies:
//
//	cd bench/peers && GOWORK=off go run . [-time 5s] [-rounds 3] [-only batch]
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"time"

	"github.com/nexuspg/nexus/bench/internal/rig"
	"github.com/nexuspg/nexus/queue"
)

const (
	namespace = "bench"
	batchSize = 1000
)

func main() {
	r := &rig.Rig{}
	flag.DurationVar(&r.Time, "time", 5*time.Second, "how long each runs in a round")
	flag.IntVar(&r.Rounds, "rounds", 3, "rounds; the median counts")
	flag.StringVar(&r.Only, "only", "", "run the comparisons whose name contains this")
	flag.Parse()
	if err := run(context.Background(), r); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, r *rig.Rig) (err error) {
	defer func() {
		if stopErr := r.Close(ctx); err == nil {
			err = stopErr
		}
	}()
	if err := r.Start(ctx); err != nil {
		return err
	}
	if err := queue.CreateNamespace(ctx, r.Owner, namespace, nil); err != nil {
		return err
	}
	insertOnly, err := newRiver(ctx, r)
	if err != nil {
		return err
	}
	if err := r.Compare(ctx, "emit single, 8 connections, against River's Insert", emitSingle(r), "river", insertOnly.single); err != nil {
		return err
	}
	if err := r.Compare(ctx, "emit batch of 1,000, 2 connections, against River's InsertManyFast", emitBatch(r), "river", insertOnly.batch); err != nil {
		return err
	}
	for _, n := range []int{1, 50} {
		if err := r.Compare(ctx, fmt.Sprintf("workflow steps, runs at once: %d, against DBOS Transact", n), steps(r, n), "dbos", dbosSteps(r, n)); err != nil {
			return err
		}
	}
	for _, n := range []int{1, 20} {
		for _, topics := range []int{1, lanes} {
			if err := r.Compare(ctx, fmt.Sprintf("outbox, end to end, 8 lanes leased, by %d, against Watermill, topics: %d", n, topics),
				outboxEndToEnd(r, n), "watermill", watermillEndToEnd(r, n, topics)); err != nil {
				return err
			}
		}
	}
	return nil
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// empty makes every round begin alike.
func empty(ctx context.Context, r *rig.Rig) error {
	return r.Exec(ctx, "truncate core.event_log, pgmq.q_core_events_bench, river_job", "checkpoint")
}

func emitSingle(r *rig.Rig) rig.Way {
	return func(ctx context.Context) (float64, error) {
		if err := empty(ctx, r); err != nil {
			return 0, err
		}
		return r.Repeat(8, 1, func() error {
			_, err := queue.Emitter{Namespace: namespace}.Emit(ctx, r.Pool, "order.placed", json.RawMessage(rig.Payload), nil)
			return err
		})
	}
}

func emitBatch(r *rig.Rig) rig.Way {
	batch := make([]queue.Emission, batchSize)
	for i := range batch {
		batch[i] = queue.Emission{Type: "order.placed", Payload: json.RawMessage(rig.Payload)}
	}
	return func(ctx context.Context) (float64, error) {
		if err := empty(ctx, r); err != nil {
			return 0, err
		}
		return r.Repeat(2, batchSize, func() error {
			_, err := queue.Emitter{Namespace: namespace}.EmitBatch(ctx, r.Pool, batch)
			return err
		})
	}
}
