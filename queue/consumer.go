package queue

import (
	"context"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// ConsumerOptions are the options of core.create_consumer. Zero values mean "not given": what the namespace says when the consumer is created,
// no opinion about one that is there.
type ConsumerOptions struct {
	Retry          nexus.RetryPolicy // zero fields: the namespace's
	UnhandledAfter time.Duration     // how long a type that nobody handles may wait; 0: the namespace's
	MaxInFlight    int               // most deliveries in hand at once, over all nodes; 0: any number
	Rate           string            // most deliveries in a time, over all nodes, such as "100/min"; "": any number
	Levels         int               // how many priorities it tells apart, up to 4: see [EmitOptions]; 0: one, that is none

	// Lanes makes it ordered: events with one EmitOptions.OrderingKey are handled one after the other, in the order of the log. As many keys can
	// be in hand at once, 1 to 4,096; 0: it is not ordered. It has no UnhandledAfter, MaxInFlight, Rate or Levels ([nexus.CodeOrdered]).
	Lanes int
	Halt  bool // of an ordered one: an event whose attempts are used up stops its lane until somebody lets it go on, and is no dead letter

	// Where a new consumer begins in the log; none: with what is emitted from now on, and no opinion about one that is there.
	FromBeginning bool
	FromTime      time.Time
	FromNow       bool
}

// CreateConsumer makes a named consumer with a queue of its own, to which every event is delivered whose type matches a pattern: an event type,
// "prefix.*", "prefix:*" or "*". Done again it does nothing; other patterns or options than those in force are [nexus.ErrConflict], code
// [nexus.CodeConsumerDiffers], whose message says what differs. What is to come from the log is delivered by ticks, beside live traffic, and exactly
// once. Who may consume or operate may call it. opts may be nil.
func CreateConsumer(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string, patterns []string, opts *ConsumerOptions) error {
	_, err := EnsureConsumer(ctx, q, ns, name, patterns, opts)
	return err
}

// EnsureConsumer is [CreateConsumer] and says whether that made the consumer.
func EnsureConsumer(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string, patterns []string, opts *ConsumerOptions) (made bool, err error) {
	const op = "create_consumer"
	o := db.NewOptions(op, "")
	if opts != nil {
		opts.add(o)
		given := 0
		for _, is := range []bool{opts.FromBeginning, opts.FromNow, !opts.FromTime.IsZero()} {
			if is {
				given++
			}
		}
		if given > 1 {
			return false, &nexus.Error{
				Op: op, Code: nexus.CodeOptionValue, Field: "from", Message: "more than one of FromBeginning, FromTime and FromNow is set", Hint: "set one of them",
			}
		}
		if opts.FromBeginning {
			o.Text("from", "beginning")
		}
		if opts.FromNow {
			o.Text("from", "now")
		}
		o.Time("from", opts.FromTime)
	}
	options, err := o.Encode()
	if err != nil {
		return false, err
	}
	err = db.Call(ctx, q, op, "select core.create_consumer($1::text, $2::text, $3::text[], $4::text::jsonb)",
		[]any{string(ns), name, patterns, options}, &made)
	return made, err
}

func (c *ConsumerOptions) add(o *db.Options) {
	o.Retry("retry", c.Retry)
	o.Duration("unhandled_after", c.UnhandledAfter)
	o.Number("max_in_flight", int64(c.MaxInFlight))
	o.Text("rate", c.Rate)
	o.Number("levels", int64(c.Levels))
	if c.Lanes != 0 {
		o.Text("kind", "ordered")
		o.Number("lanes", int64(c.Lanes))
	}
	if c.Halt {
		o.Text("exhausted", "halt")
	}
}

// ConsumerChange is what [AlterConsumer] changes. Zero values leave things as they are.
type ConsumerChange struct {
	Patterns []string // all of them, for what is emitted from then on

	Retry          nexus.RetryPolicy // field by field
	UnhandledAfter time.Duration
	MaxInFlight    int
	Rate           string
	Levels         int

	// These go back to what the namespace says, or to no limit: unhandled_after, max_in_flight, rate, levels, retry.
	Reset []string

	DropUnmatched bool // remove what waits, is delayed or parked and matches none of the patterns

	// Deliver what is in the log, matches, and was not delivered to the consumer; neither: nothing.
	BackfillBeginning bool
	BackfillTime      time.Time
}

// AlterConsumer changes a consumer and returns how many deliveries were removed by DropUnmatched. It takes the duty to operate.
func AlterConsumer(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string, change ConsumerChange) (removed int64, err error) {
	const op = "alter_consumer"
	o := db.NewOptions(op, "")
	c := ConsumerOptions{Retry: change.Retry, UnhandledAfter: change.UnhandledAfter, MaxInFlight: change.MaxInFlight, Rate: change.Rate, Levels: change.Levels}
	c.add(o)
	o.Flag("drop_unmatched", change.DropUnmatched)
	if change.BackfillBeginning && !change.BackfillTime.IsZero() {
		return 0, &nexus.Error{
			Op: op, Code: nexus.CodeOptionValue, Field: "backfill", Message: "both BackfillBeginning and BackfillTime are set", Hint: "set one of them",
		}
	}
	if change.BackfillBeginning {
		o.Text("backfill", "beginning")
	}
	o.Time("backfill", change.BackfillTime)
	for _, key := range change.Reset {
		o.Null(key)
	}
	options, err := o.Encode()
	if err != nil {
		return 0, err
	}
	err = db.Call(ctx, q, op, "select core.alter_consumer($1::text, $2::text, $3::text[], $4::text::jsonb)",
		[]any{string(ns), name, change.Patterns, options}, &removed)
	return removed, err
}

// PauseConsumer has nodes claim nothing more from a consumer, whatever node; events go on being delivered to its queue, and handlers that run may
// end. It says whether the consumer was active, and takes the duty to operate.
func PauseConsumer(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string) (changed bool, err error) {
	err = db.Call(ctx, q, "pause_consumer", "select core.pause_consumer($1::text, $2::text)", []any{string(ns), name}, &changed)
	return changed, err
}

// ResumeConsumer undoes [PauseConsumer], and says whether the consumer was paused.
func ResumeConsumer(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string) (changed bool, err error) {
	err = db.Call(ctx, q, "resume_consumer", "select core.resume_consumer($1::text, $2::text)", []any{string(ns), name}, &changed)
	return changed, err
}

// DropConsumer removes a named consumer with its queue. As long as it has anything undelivered or unresolved dead letters it fails with
// [nexus.CodeConsumerNotEmpty], unless force says to lose what waits; dead letters stay in the ledger. Handlers that run lose their leases. It
// takes the duty to operate.
func DropConsumer(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string, force bool) error {
	return db.Do(ctx, q, "drop_consumer", "core.drop_consumer($1::text, $2::text, $3::boolean)", string(ns), name, force)
}
