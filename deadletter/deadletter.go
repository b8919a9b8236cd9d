// Package deadletter mends what was given up, wherever it came from: a queue, a lane, a recurring task, a trigger or a
// workflow step all end in the same ledger.
//
// A call picks unresolved dead letters by [Filter], up to a limit, and says how many it found and mended. It is one statement:
// killed half way it has done nothing. [ReplayAll], [ResolveAll] and [DiscardAll] go on until the filter picks no more, in batches
// that each commit, so that what was done stays done. To look before acting use [Preview] or [ReplayOptions].DryRun.
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
	AfterID       int64     // only ids beyond this one: the LastID of the batch before
	Limit         int       // how many at most; 0: 1,000, and no limit where a function goes on in batches
}

// ReplayOptions are the options of core.replay_dead_letters.
type ReplayOptions struct {
	Payload json.RawMessage // delivered in place of the stored one; the Filter must name one id
	DryRun  bool            // everything is done, counted and undone
	Rate    float64         // deliveries a second, by due times that are that far apart; 0: all at once
	Delay   time.Duration   // before the first
}

// Result counts dead letters.
type Result struct {
	Matched int // by the filter, within its limit
	Done    int
	Skipped int // left as they are: their consumer is gone, or someone else resolves them now

	LastID int64  // of a replay: the highest id that matched, for Filter.AfterID
	Skips  []Skip // of a replay: why some were skipped
}

// Skip is a reason why dead letters were not replayed.
type Skip struct {
	Why   string  `json:"why"`
	Count int     `json:"count"`
	IDs   []int64 `json:"ids"` // the first ten
}

// The resolutions that [Resolve] takes.
const (
	Ignored          = "ignored"            // its effect is not wanted
	HandledByHandler = "handled_by_handler" // its effect was had by other means
)

// Replay delivers again, to the consumer that had given up, with attempts counted from the start. opts may be nil.
func Replay(ctx context.Context, q nexus.DBTX, f Filter, opts *ReplayOptions) (Result, error) {
	const op = "replay_dead_letters"
	filter, err := f.encode(op)
	if err != nil {
		return Result{}, err
	}
	o := db.NewOptions(op, "")
	if opts != nil {
		o.JSON("payload", opts.Payload)
		o.Flag("dry_run", opts.DryRun)
		o.Float("rate", opts.Rate)
		o.Duration("delay", opts.Delay)
	}
	options, err := o.Encode()
	if err != nil {
		return Result{}, err
	}
	var r Result
	var skips string
	err = db.Call(ctx, q, op, "select matched, done, skipped, coalesce(last_id, 0), skips::text from core.replay_dead_letters($1::text::jsonb, $2::text::jsonb)",
		[]any{filter, options}, &r.Matched, &r.Done, &r.Skipped, &r.LastID, &skips)
	if err != nil {
		return Result{}, err
	}
	return r, json.Unmarshal([]byte(skips), &r.Skips)
}

// Resolve settles dead letters without delivering them, as [Ignored] or [HandledByHandler], for a reason that is kept with each.
func Resolve(ctx context.Context, q nexus.DBTX, f Filter, resolution, reason string) (Result, error) {
	return settle(ctx, q, "resolve_dead_letters", f, "core.resolve_dead_letters($1::text::jsonb, $2::text, $3::text)", resolution, reason)
}

// Discard resolves dead letters without delivering them, for a reason that is kept with each.
func Discard(ctx context.Context, q nexus.DBTX, f Filter, reason string) (Result, error) {
	return settle(ctx, q, "discard_dead_letters", f, "core.discard_dead_letters($1::text::jsonb, $2::text)", reason)
}

func settle(ctx context.Context, q nexus.DBTX, op string, f Filter, function string, args ...any) (r Result, err error) {
	filter, err := f.encode(op)
	if err != nil {
		return r, err
	}
	err = db.Call(ctx, q, op, "select matched, done, skipped from "+function, append([]any{filter}, args...), &r.Matched, &r.Done, &r.Skipped)
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
	o.Number("after_id", f.AfterID)
	o.Number("limit", int64(f.Limit))
	return o.Encode()
}
