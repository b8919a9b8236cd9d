package main

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/nexuspg/nexus/nexustest"
	"github.com/nexuspg/nexus/schedule"
)

func shop(t *testing.T) *nexustest.Env {
	t.Helper()
	env := nexustest.New(t, namespace) // a database of its own, a clock that stands still
	schema, err := os.ReadFile("schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := env.Pool.Exec(t.Context(), string(schema)); err != nil {
		t.Fatal(err)
	}
	return env
}

func TestAnOrderIsThankedFor(t *testing.T) {
	t.Parallel()
	env := shop(t)
	var sent []Mail
	down := true
	n := newNode(env.Pool, nil, func(_ context.Context, m Mail, _ string) error {
		if down {
			return errors.New("the mail service is down")
		}
		sent = append(sent, m)
		return nil
	})

	if _, err := place(t.Context(), env.Pool, Order{Customer: "ann@example.com", Items: 2}); err != nil {
		t.Fatal(err)
	}
	env.Work(n) // the order is handled; its mail fails
	down = false
	env.Work(n) // and is not due yet
	if len(sent) != 0 {
		t.Fatalf("sent before its time: %v", sent)
	}
	env.Advance(time.Minute)
	env.Work(n)
	if len(sent) != 1 || sent[0] != (Mail{"ann@example.com", "Thank you for order 1."}) {
		t.Fatalf("sent %v", sent)
	}
}

func TestTheNightlyReport(t *testing.T) {
	t.Parallel()
	env := shop(t)
	n := newNode(env.Pool, nil, func(context.Context, Mail, string) error { return nil })
	for range 3 {
		if _, err := place(t.Context(), env.Pool, Order{Customer: "ann@example.com", Items: 1}); err != nil {
			t.Fatal(err)
		}
	}
	env.Work(n) // declares the task as well

	slots, err := schedule.NextRuns(t.Context(), env.Pool, nightly.Cron, nightly.Zone, env.Now(), 1)
	if err != nil {
		t.Fatal(err)
	}
	env.Advance(slots[0].Sub(env.Now())) // half past two in Berlin, whenever the test runs
	env.Work(n)
	mails := nexustest.Payloads(env, MailRequested)
	if last := mails[len(mails)-1]; last != (Mail{"boss@example.com", "New orders: 3."}) {
		t.Fatalf("the last mail is %v", last)
	}
}

func TestAMailWithoutAddressIsADeadLetter(t *testing.T) {
	t.Parallel()
	env := shop(t)
	n := newNode(env.Pool, nil, send) // the program's own
	if _, err := place(t.Context(), env.Pool, Order{Customer: "bob", Items: 1}); err != nil {
		t.Fatal(err)
	}
	env.Work(n)
	if dead := env.DeadLetters(); len(dead) != 1 || dead[0].Reason != "no address" {
		t.Fatalf("dead letters %+v", dead)
	}
}
