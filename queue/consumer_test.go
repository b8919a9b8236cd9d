package queue_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/queue"
)

// holds: C1, C3
func TestConsumers(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	ctx := t.Context()
	db.Namespace("shop")
	opts := &queue.ConsumerOptions{
		Retry: nexus.RetryPolicy{MaxAttempts: 3, Base: time.Second}, UnhandledAfter: 2 * time.Hour, MaxInFlight: 4, Rate: "5/s",
		FromTime: db.Now().Add(-time.Hour),
	}
	for _, want := range []bool{true, false} { // the second time nothing happens
		made, err := queue.EnsureConsumer(ctx, db.Pool, "shop", "mail", []string{"user.*", "order.paid"}, opts)
		if err != nil || made != want {
			t.Fatalf("EnsureConsumer: %v, %v", made, err)
		}
	}
	stored := func() string {
		return dbtest.Get[string](db, `select (patterns, state, retry, unhandled_after, max_in_flight, rate, backfill)::text from core.consumer_status where consumer = 'mail'`)
	}
	if got, want := stored(), `("{order.paid,user.*}",active,"{""base"": ""1.000000s"", ""max_attempts"": 3}",02:00:00,4,5/s,waiting)`; got != want {
		t.Errorf("created %s, want %s", got, want)
	}
	if err := queue.CreateConsumer(ctx, db.Pool, "shop", "all", []string{"*"}, &queue.ConsumerOptions{FromBeginning: true}); err != nil {
		t.Error(err)
	}
	wantError(t, queue.CreateConsumer(ctx, db.Pool, "shop", "mail", []string{"user.*"}, nil), nexus.ErrConflict, nexus.CodeConsumerDiffers, "p_options")
	wantError(t, queue.CreateConsumer(ctx, db.Pool, "shop", "x", []string{"a b"}, nil), nexus.ErrInvalid, nexus.CodeConsumer, "p_patterns")
	wantError(t, queue.CreateConsumer(ctx, db.Pool, "shop", "all", []string{"*"}, &queue.ConsumerOptions{FromNow: true}), nexus.ErrConflict, nexus.CodeConsumerDiffers, "p_options")
	both := &queue.ConsumerOptions{FromBeginning: true, FromTime: time.Now()}
	wantError(t, queue.CreateConsumer(ctx, unasked{t}, "shop", "x", []string{"a"}, both), nexus.ErrInvalid, nexus.CodeOptionValue, "from")

	_, err := queue.AlterConsumer(ctx, unasked{t}, "shop", "mail", queue.ConsumerChange{BackfillBeginning: true, BackfillTime: time.Now()})
	wantError(t, err, nexus.ErrInvalid, nexus.CodeOptionValue, "backfill")

	if changed, err := queue.PauseConsumer(ctx, db.Owner, "shop", "mail"); err != nil || !changed {
		t.Errorf("PauseConsumer: %v, %v", changed, err)
	}
	if changed, err := queue.ResumeConsumer(ctx, db.Owner, "shop", "mail"); err != nil || !changed {
		t.Errorf("ResumeConsumer: %v, %v", changed, err)
	}
	db.Exec(`select core.emit('shop', 'user.made'), core.emit('shop', 'order.paid')`)
	removed, err := queue.AlterConsumer(ctx, db.Owner, "shop", "mail", queue.ConsumerChange{
		Patterns: []string{"order.*"}, MaxInFlight: 8, Reset: []string{"rate", "unhandled_after", "retry"}, DropUnmatched: true, BackfillBeginning: true,
	})
	if err != nil || removed != 1 {
		t.Errorf("AlterConsumer: %d, %v", removed, err)
	}
	if got, want := stored(), `({order.*},active,{},,8,,waiting)`; got != want {
		t.Errorf("altered %s, want %s", got, want)
	}
	wantError(t, queue.DropConsumer(ctx, db.Owner, "shop", "mail", false), nexus.ErrConflict, nexus.CodeConsumerNotEmpty, "p_consumer")
	if err := queue.DropConsumer(ctx, db.Owner, "shop", "mail", true); err != nil {
		t.Error(err)
	}
	wantError(t, queue.DropConsumer(ctx, db.Owner, "shop", "mail", true), nexus.ErrNotFound, nexus.CodeNoConsumer, "p_consumer")
	if err := queue.DropConsumer(ctx, db.Pool, "shop", "all", true); !errors.Is(err, nexus.ErrForbidden) {
		t.Errorf("a node drops it: %v", err)
	}
}
