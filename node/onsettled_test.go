package node_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// Each outcome is told once it is committed, in every mode. A hook that panics, ends its goroutine or does not return holds up nothing.
// holds: settled (six modes, a hook that panics, exits, blocks)
func TestOnSettledInEveryMode(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	var mu sync.Mutex
	told := map[string]string{}
	calls, wrong := 0, 0
	settled := make(chan struct{})
	var log buffer
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick, Logger: slog.New(slog.NewTextHandler(&log, nil)), OnSettled: func(ctx context.Context, s node.Settled) {
		mu.Lock()
		calls++
		call := calls
		told[s.Delivery.Type] = strings.TrimSpace(told[s.Delivery.Type] + " " + string(s.Outcome))
		if (s.Reason == "") != (s.Outcome == node.Done) || queue.Ack(ctx, db.Pool, s.Delivery) == nil {
			wrong++
			t.Logf("%+v", s)
		}
		mu.Unlock()
		switch call {
		case 1:
			panic("in the hook")
		case 2:
			runtime.Goexit()
		case 3:
			<-settled
		}
	}})
	want := map[string]string{}
	var events []queue.Emission
	for name, mode := range everyMode(db) {
		pattern := strings.ReplaceAll(strings.ToLower(name), " ", "-")
		mode(n, pattern+".*", func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error {
			switch {
			case strings.HasSuffix(d.Type, ".retry") && d.Attempt == 1, strings.HasSuffix(d.Type, ".dead"):
				return errors.New("boom")
			case strings.HasSuffix(d.Type, ".reject"):
				return nexus.Reject("no")
			case strings.HasSuffix(d.Type, ".release") && d.Deferrals == 0:
				return nexus.Release(0)
			}
			return nil
		}).Retry = nexus.RetryPolicy{MaxAttempts: 2, Base: quick.Base, Max: quick.Max, Jitter: -1}
		for end, outcomes := range map[string]string{"done": "done", "retry": "retried done", "dead": "retried dead", "reject": "rejected", "release": "released done"} {
			want[pattern+"."+end] = outcomes
			events = append(events, queue.Emission{Type: pattern + "." + end})
		}
	}
	n.OnLeased("acks", func(ctx context.Context, d *nexus.Delivery) error { return queue.Ack(ctx, db.Pool, d) })
	want["acks"] = "done"
	events = append(events, queue.Emission{Type: "acks"})
	if _, err := (queue.Emitter{Namespace: ns}).EmitBatch(t.Context(), db.Pool, events); err != nil {
		t.Fatal(err)
	}
	stop := start(t, n)
	db.Wait(queueEmpty)
	close(settled)
	stop()
	mu.Lock()
	defer mu.Unlock()
	if d := cmp.Diff(want, told); d != "" || wrong > 0 {
		t.Errorf("%d wrong; %s", wrong, d)
	}
	if !strings.Contains(log.String(), "OnSettled panicked") {
		t.Error("the panic is not logged")
	}
}
