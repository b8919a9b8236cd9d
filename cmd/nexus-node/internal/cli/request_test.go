package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
)

// holds: R5 (on the command line)
func TestRequestVerb(t *testing.T) {
	t.Parallel()
	db, s := onDatabase(t)
	db.Namespace("shop")
	s.cfg.Namespace = "shop"
	if r := s.run("request", "price"); r.code != exitUnavailable || !strings.Contains(r.errors, "503 no live node has the handler go:price") {
		t.Errorf("nobody there: %d %s", r.code, r.errors)
	}
	n := node.New(db.Pool, node.Config{Namespace: "shop"})
	node.OnRequest(n, "price", func(ctx context.Context, d *nexus.DeliveryOf[struct{ N int }]) (any, error) {
		switch d.Payload.N {
		case 0:
			return nil, nexus.Reject("no number")
		case 1:
			<-ctx.Done()
		}
		return map[string]any{"n": d.Payload.N, "by": d.ProducerNodeID}, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	db.Wait(`select exists (select from core_private.node_capabilities where consumer = 'requests')`)
	if out := s.ok("request", "price", `{"N": 7}`, "--producer", "me"); strings.Join(strings.Fields(out), "") != `{"n":7,"by":"me"}` {
		t.Errorf("the reply is %s", out)
	}
	if r := s.run("request", "price"); r.code != exitFailed || !strings.Contains(r.errors, "422 no number") {
		t.Errorf("rejected: %d %s", r.code, r.errors)
	}
	if r := s.run("request", "price", `{"N": 1}`, "--timeout", "50ms"); r.code != exitFailed || !strings.Contains(r.errors, "504") {
		t.Errorf("late: %d %s", r.code, r.errors)
	}
	if r := s.run("request", "pr ice"); r.code != exitUsage || !strings.Contains(r.errors, "TARGET") {
		t.Errorf("no name: %d %s", r.code, r.errors)
	}
	if r := s.run("request", "price", "--timeout", "6m"); r.code != exitUsage {
		t.Errorf("too long: %d %s", r.code, r.errors)
	}
}
