package operate

import (
	"context"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// ReplayFilter says which events of the log to replay, of those that the consumer's patterns match. Zero fields say nothing, and one must
// be set.
type ReplayFilter struct {
	Type          string // or a pattern; "*" is every event
	From, Until   time.Time
	Tag           string
	OrderingKey   string
	CorrelationID string
	EventIDs      []int64 // at most 10,000
}

// ReplayOptions are the options of core.replay_events.
type ReplayOptions struct {
	ID     string // names the replay: one with the same ID goes on where it was, and delivers nothing twice; "": a new one
	Limit  int64  // events at most; 0: all
	Rate   string // deliveries at most, as 100/min or 5/s; "": as fast as can be
	Step   int    // rows of the log looked at in one transaction, at most 10,000; 0: 5,000
	DryRun bool   // only count
}

// ReplayProgress is how far a replay is.
type ReplayProgress struct {
	ID        string        `json:"replay_id"`
	State     string        `json:"state"` // running, done, or dry run
	Looked    int64         `json:"looked"`
	Delivered int64         `json:"delivered"`
	DoneTo    int64         `json:"done_to"` // event id up to which the log has been looked at
	Bound     int64         `json:"bound"`   // event id at which it ends
	Wait      time.Duration `json:"-"`       // until its rate lets it go on
}

// replayCall waits by the database's clock, which the rate goes by.
const replayCall = `select replay_id, state, coalesce(looked, 0), delivered, coalesce(done_to, 0), coalesce(bound, 0),
  coalesce(pg_catalog.date_part('epoch', next_at operator(pg_catalog.-) core.now()), 0)
from core.replay_events($1::text, $2::text, $3::text::jsonb, $4::text::jsonb)`

// ReplayEvents delivers events of the log to one consumer again, as far as one step goes: call it until State is done. Handlers see
// [nexus.Event].Replay. It needs the duty to operate. [nexus.CodeReplayDiffers]: there is a replay of that ID with another consumer, filter
// or limit.
func ReplayEvents(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, consumer string, which ReplayFilter, opts *ReplayOptions) (ReplayProgress, error) {
	const op = "replay_events"
	f := db.NewOptions(op, "")
	f.Text("type", which.Type)
	f.Time("from", which.From)
	f.Time("until", which.Until)
	f.Text("tag", which.Tag)
	f.Text("ordering_key", which.OrderingKey)
	f.Text("correlation_id", which.CorrelationID)
	f.IDs("event_ids", which.EventIDs)
	filter, err := f.Encode()
	if err != nil {
		return ReplayProgress{}, err
	}
	o := db.NewOptions(op, "")
	if opts != nil {
		o.Text("replay_id", opts.ID)
		o.Number("limit", opts.Limit)
		o.Text("rate", opts.Rate)
		o.Number("step", int64(opts.Step))
		o.Flag("dry_run", opts.DryRun)
	}
	options, err := o.Encode()
	if err != nil {
		return ReplayProgress{}, err
	}
	var p ReplayProgress
	var wait float64
	err = db.Call(ctx, q, op, replayCall, []any{string(ns), consumer, filter, options}, &p.ID, &p.State, &p.Looked, &p.Delivered, &p.DoneTo, &p.Bound, &wait)
	p.Wait = max(0, time.Duration(wait*float64(time.Second)))
	return p, err
}

// ReplayEventsAll is [ReplayEvents] until it is done, waiting as the rate has it. On a pool each step commits by itself: stopped or killed
// half way, the same call with the ID of the progress does the rest. each, if not nil, hears the progress after every step but the last.
func ReplayEventsAll(
	ctx context.Context, q nexus.DBTX, ns nexus.Namespace, consumer string, which ReplayFilter, opts *ReplayOptions, each func(ReplayProgress),
) (ReplayProgress, error) {
	var o ReplayOptions
	if opts != nil {
		o = *opts
	}
	var p ReplayProgress
	for {
		next, err := ReplayEvents(ctx, q, ns, consumer, which, &o)
		if err != nil {
			return p, err
		}
		p, o.ID = next, next.ID
		if p.State != "running" {
			return p, nil
		}
		if each != nil {
			each(p)
		}
		if p.Wait > 0 {
			timer := time.NewTimer(p.Wait)
			select {
			case <-ctx.Done():
				timer.Stop()
				return p, ctx.Err()
			case <-timer.C:
			}
		}
	}
}
