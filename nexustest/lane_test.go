package nexustest_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/nexustest"
	"github.com/nexuspg/nexus/outbox"
)

// A lane is drained inline, with the attempts at what is poison; what is behind that is in order. A lane that has halted is left as it is.
func TestDrain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	env := nexustest.New(t, "shop")
	if _, err := env.Pool.Exec(ctx, "create table booked (n bigint generated always as identity, body text)"); err != nil {
		t.Fatal(err)
	}
	attempts := 0
	book := nexustest.Poison(func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
		_, err := tx.Exec(ctx, "insert into booked (body) values ($1)", string(m.Body))
		return err
	}, func(m *outbox.Item) error {
		if string(m.Body) == "bad" {
			attempts++
			return errors.New("no such account")
		}
		return nil
	})
	n := newNode(env)
	for queue, halt := range map[string]bool{"moves": false, "halts": true} {
		if _, err := outbox.RegisterQueue(ctx, env.Pool, "shop", queue, 4, &outbox.QueueOptions{Halt: halt, Retry: nexus.RetryPolicy{MaxAttempts: 3}}); err != nil {
			t.Fatal(err)
		}
		n.Add(outbox.Handle(queue, book))
	}
	enqueue := func(queue string, bodies ...string) {
		for _, body := range bodies {
			if _, err := outbox.Enqueue(ctx, env.Pool, "shop", outbox.Message{Queue: queue, Key: "anna", Type: "t", Body: []byte(body)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	booked := func() []string {
		rows, err := env.Pool.Query(ctx, "select body from booked order by n")
		if err != nil {
			t.Fatal(err)
		}
		bodies, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return bodies
	}
	enqueue("moves", "1", "2", "bad", "3")
	env.Drain(n, "moves")
	env.AssertOrder("moves", "anna", booked())
	lanes := env.Lanes("moves")
	if len(lanes) != 1 || lanes[0].Seq != 4 || lanes[0].Waiting != 0 || lanes[0].Why != "" {
		t.Errorf("%+v", lanes)
	}
	if dead := env.DeadLetters(); attempts < 3 || len(dead) != 1 || dead[0].LastError != "no such account" {
		t.Errorf("%d attempts, dead: %+v", attempts, dead)
	}
	if got := booked(); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("booked %q", got)
	}

	enqueue("halts", "bad", "4")
	env.Drain(n, "halts")
	if lanes := env.Lanes("halts"); len(lanes) != 1 || lanes[0].Seq != 0 || lanes[0].Waiting != 2 || lanes[0].Why != "halted at message 1" {
		t.Errorf("%+v", lanes)
	}
	fake := &failing{TB: t}
	nexustest.With(env, fake).AssertOrder("moves", "anna", []string{"2", "1", "3"})
	if !fake.failed {
		t.Error("messages that were not in order pass")
	}
}
