package nexustest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/nexustest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

type Signup struct{ Email string }

const (
	SignedUp  nexus.EventType[Signup] = "user.signed_up"
	Reminded  nexus.EventType[Signup] = "user.reminded"
	namespace nexus.Namespace         = "app"
)

// remind is the handler under test: it waits for a day, then says that it has reminded.
func remind(ctx context.Context, tx pgx.Tx, d *nexus.DeliveryOf[Signup]) error {
	if d.Payload.Email == "" {
		return nexus.Reject("no address")
	}
	if d.Attempt == 1 {
		return nexus.Retry(24 * time.Hour)
	}
	_, err := queue.EmitT(ctx, tx, queue.Emitter{Namespace: namespace}, Reminded, d.Payload, nil)
	return err
}

// appNode is what the program runs.
func appNode(pool *pgxpool.Pool) *node.Node {
	n := node.New(pool, node.Config{Namespace: namespace})
	node.OnT(n, SignedUp, remind)
	return n
}

// testRemind would be TestRemind(t *testing.T) in a test file of yours.
func testRemind(t testing.TB) {
	t.Helper()
	env := nexustest.New(t, namespace)
	n := appNode(env.Pool)
	for _, email := range []string{"ann@example.com", ""} {
		if _, err := queue.EmitT(t.Context(), env.Pool, env.Emitter, SignedUp, Signup{email}, nil); err != nil {
			t.Fatal(err)
		}
	}
	env.Work(n)
	if dead := env.DeadLetters(); len(dead) != 1 || dead[0].Reason != "no address" {
		t.Fatalf("dead letters %+v", dead)
	}
	fmt.Println("after a moment:", nexustest.Payloads(env, Reminded))

	env.Advance(24 * time.Hour)
	env.Work(n)
	fmt.Println("after a day:", nexustest.Payloads(env, Reminded))
}

// A test has a database and a clock of its own, and runs the program's handlers when it says so.
func Example() {
	dbtest.ExampleTB(testRemind) // go test calls a test
	// Output:
	// after a moment: []
	// after a day: [{ann@example.com}]
}
