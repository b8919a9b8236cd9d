// Package deadletter mends what was given up, wherever it came from: a queue, a lane, a recurring task, a trigger or a
// workflow step all end in the same ledger.
//
// A call picks unresolved dead letters by [Filter], up to a limit, and says how many it found and mended. It is one statement:
// killed half way it has done nothing. [ReplayAll], [ResolveAll] and [DiscardAll] go on until the filter picks no more, in batches
// that each commit, so that what was done stays done. To look before acting use [Preview] or [ReplayOptions].DryRun.
//
// A program that mends dead letters one by one takes them with [Claim]: until the deadline nobody else moves them, and of two that try, one is told
// that it did. What died with its claims is taken up by the next one when their time is over.
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
	Trigger       string  // name or id of the trigger that made the delivery
	Target        string  // the key of the handler that the delivery named
	Type          string  // an event type or a pattern
	Reason        string
	Before, After time.Time // when it was given up
	AfterID       int64     // only ids beyond this one: the LastID of the batch before
	Limit         int       // how many at most; 0: 1,000, and no limit where a function goes on in batches

	told bool // a batch before has said which ids are not there
}

// ReplayOptions are the options of core.replay_dead_letters.
type ReplayOptions struct {
	Payload json.RawMessage // delivered in place of the stored one; the Filter must name one id
	DryRun  bool            // everything is done, counted and undone
	Rate    float64         // deliveries a second, by due times that are that far apart, behind what replays have waiting in the namespace; 0: all at once
	Delay   time.Duration   // before the first
}

// Result counts dead letters.
type Result struct {
	Matched int // by the filter, within its limit
	Done    int
	Skipped int // left as they are: their consumer is gone, or someone else resolves them now or holds a claim on them

	LastID int64 // of a replay: the highest id that matched, for Filter.AfterID

	// Skips says why some were skipped, of a replay, and which of Filter.IDs are no unresolved dead letters: they are resolved already, or not
	// there, or not for you to see. The latter matched nothing, so they are counted in no field but this one.
	Skips []Skip
}

// Skip is a reason why dead letters were left as they are.
type Skip struct {
	Why   string  `json:"why"`
	Count int     `json:"count"`
	IDs   []int64 `json:"ids"` // the first ten; of Filter.IDs that are no unresolved dead letters, all
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
	var skips, unmatched string
	err = db.Call(ctx, q, op, "select matched, done, skipped, coalesce(last_id, 0), skips::text, "+f.unmatched()+" from core.replay_dead_letters($1::text::jsonb, $2::text::jsonb)",
		[]any{filter, options}, &r.Matched, &r.Done, &r.Skipped, &r.LastID, &skips, &unmatched)
	if err != nil {
		return Result{}, err
	}
	return r, r.skip(skips, unmatched)
}

// unmatched is what the statement says of the ids given. It sees what was there before the function, whose work has a later snapshot.
func (f *Filter) unmatched() string {
	if len(f.IDs) == 0 || f.told {
		return "'[]'"
	}
	return `(select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('why', s.why, 'count', pg_catalog.cardinality(s.ids), 'ids', s.ids) order by s.ids), '[]')::text
		from (select w.why, pg_catalog.array_agg(distinct g.id order by g.id) as ids
			from (select e::bigint as id from pg_catalog.jsonb_array_elements_text($1::text::jsonb -> 'ids') e) g
			left join core.dead_letters l on l.dead_letter_id = g.id
			cross join lateral (select case when l.dead_letter_id is null then 'there is no such dead letter, or none that you may see'
				when l.resolved_at is not null then 'it is resolved already: ' || l.resolution
				when l.deadline > core.now() then 'a handler of dead letters is at work on it' end as why) w
			where w.why is not null and g.id > coalesce(($1::text::jsonb ->> 'after_id')::bigint, 0)
			group by w.why) s)`
}

func (r *Result) skip(lists ...string) error {
	for _, list := range lists {
		var more []Skip
		if err := json.Unmarshal([]byte(list), &more); err != nil {
			return err
		}
		r.Skips = append(r.Skips, more...)
	}
	return nil
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
	var unmatched string
	err = db.Call(ctx, q, op, "select matched, done, skipped, "+f.unmatched()+" from "+function, append([]any{filter}, args...), &r.Matched, &r.Done, &r.Skipped, &unmatched)
	if err != nil {
		return Result{}, err
	}
	return r, r.skip(unmatched)
}

func (f *Filter) encode(op string) (string, error) {
	o := db.NewOptions(op, "")
	o.Text("namespace", string(f.Namespace))
	o.IDs("ids", f.IDs)
	o.Text("source", f.Source)
	o.Text("trigger", f.Trigger)
	o.Text("target", f.Target)
	o.Text("type", f.Type)
	o.Text("reason", f.Reason)
	o.Time("before", f.Before)
	o.Time("after", f.After)
	o.Number("after_id", f.AfterID)
	o.Number("limit", int64(f.Limit))
	return o.Encode()
}
