// Package deadletter mends what was given up, wherever it came from: a queue, a lane, a recurring task, a trigger or a
// workflow step all end in the same ledger.
//
// A call picks unresolved dead letters by [Filter], up to a limit, and says how many it found and mended. To look before
// acting, read the views core.unresolved_dead_letters and core.dead_letter_groups, or use [ReplayOptions].DryRun.
package deadletter

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Filter picks unresolved dead letters, oldest first. Zero fields match all. A Filter without any field would match
// everything by mistake and is refused: [nexus.ErrInvalid], code [nexus.CodeDeadLetterFilter].
type Filter struct {
	Namespace     nexus.Namespace
	IDs           []int64 // empty but not nil: none
	Source        string  // what kind of work it was: "delivery", "lane", "task", "trigger", …
	Type          string  // an event type or a pattern
	Reason        string
	Before, After time.Time // when it was given up
	Limit         int       // how many at most; 0: 1,000
}

// ReplayOptions are the options of core.replay_dead_letters.
type ReplayOptions struct {
	Payload json.RawMessage // delivered in place of the stored one; the Filter must name one id
	DryRun  bool            // everything is done, counted and undone
}

// Result counts dead letters.
type Result struct {
	Matched int // by the filter, within its limit
	Done    int
	Skipped int // left as they are: their consumer is gone, or someone else resolves them now
}

// Replay delivers again, to the consumer that had given up, with attempts counted from the start. opts may be nil.
func Replay(ctx context.Context, q nexus.DBTX, f Filter, opts *ReplayOptions) (Result, error) {
	const op = "replay_dead_letters"
	o := db.NewOptions(op, "")
	if opts != nil {
		o.JSON("payload", opts.Payload)
		o.Flag("dry_run", opts.DryRun)
	}
	options, err := o.Encode()
	if err != nil {
		return Result{}, err
	}
	return call(ctx, q, op, f, "core.replay_dead_letters($1::text::jsonb, $2::text::jsonb)", options)
}

// Discard resolves dead letters without delivering them, for a reason that is kept with each.
func Discard(ctx context.Context, q nexus.DBTX, f Filter, reason string) (Result, error) {
	return call(ctx, q, "discard_dead_letters", f, "core.discard_dead_letters($1::text::jsonb, $2::text)", reason)
}

func call(ctx context.Context, q nexus.DBTX, op string, f Filter, function, second string) (r Result, err error) {
	filter, err := f.encode(op)
	if err != nil {
		return r, err
	}
	err = db.Call(ctx, q, op, "select matched, done, skipped from "+function,
		[]any{filter, second}, &r.Matched, &r.Done, &r.Skipped)
	return r, err
}

func (f *Filter) encode(op string) (string, error) {
	o := db.NewOptions(op, "")
	o.Text("namespace", string(f.Namespace))
	o.IDs("ids", f.IDs)
	o.Text("source", f.Source)
	o.Text("type", f.Type)
	o.Text("reason", f.Reason)
	o.Time("before", f.Before)
	o.Time("after", f.After)
	o.Number("limit", int64(f.Limit))
	return o.Encode()
}
