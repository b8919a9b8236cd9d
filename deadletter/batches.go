package deadletter

import (
	"context"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// batchSize keeps a batch far below a second, so that what others want of its rows waits for no longer.
const batchSize = 1000

// ReplayAll is [Replay] in batches of 1,000 until the filter picks no more or its Limit is reached. On a pool each batch commits by
// itself: stopped or killed half way, the same call goes on with the rest. The rate holds over all batches, and
// begins behind what an earlier replay still has waiting in the namespace. each, if not nil, hears
// the total after every batch. A dry run is done in batches, too, each undone.
func ReplayAll(ctx context.Context, q nexus.DBTX, f Filter, opts *ReplayOptions, each func(Result)) (Result, error) {
	var o ReplayOptions
	if opts != nil {
		o = *opts
	}
	if o.Rate > 0 && !o.DryRun {
		ahead, err := waiting(ctx, q, f.Namespace)
		if err != nil {
			return Result{}, err
		}
		o.Delay = max(o.Delay, ahead)
	}
	begun := time.Now()
	return batches(f, each, func(f Filter, sofar Result) (Result, error) {
		next := o
		if o.Rate > 0 {
			// The first of this batch is due when the last of the one before has been for one step.
			spread := o.Delay + time.Duration(float64(sofar.Done)/o.Rate*float64(time.Second))
			next.Delay = max(spread-time.Since(begun), 0)
		}
		return Replay(ctx, q, f, &next)
	})
}

// waiting is how far in the future the last delivery is that a replay has put off, so that one that was killed and goes on keeps its rate.
func waiting(ctx context.Context, q nexus.DBTX, ns nexus.Namespace) (time.Duration, error) {
	var seconds float64
	err := db.Call(ctx, q, "replay_dead_letters", `select coalesce(extract(epoch from pg_catalog.max(l.due_at) - core.now()), 0)::float8
		from core.queues q cross join lateral (
			select d.due_at from core.delayed d where d.queue_name = q.queue_name and d.headers ? 'nexus-replay-of' order by d.due_at desc limit 1) l
		where $1::text = '' or q.namespace = $1::text`, []any{string(ns)}, &seconds)
	return time.Duration(seconds * float64(time.Second)), err
}

// ResolveAll is [Resolve] in batches, as [ReplayAll].
func ResolveAll(ctx context.Context, q nexus.DBTX, f Filter, resolution, reason string, each func(Result)) (Result, error) {
	return batches(f, each, func(f Filter, _ Result) (Result, error) { return Resolve(ctx, q, f, resolution, reason) })
}

// DiscardAll is [Discard] in batches, as [ReplayAll].
func DiscardAll(ctx context.Context, q nexus.DBTX, f Filter, reason string, each func(Result)) (Result, error) {
	return batches(f, each, func(f Filter, _ Result) (Result, error) { return Discard(ctx, q, f, reason) })
}

// ExpireAll is [Expire] in batches, as [ReplayAll].
func ExpireAll(ctx context.Context, q nexus.DBTX, f Filter, reason string, each func(Result)) (Result, error) {
	return batches(f, each, func(f Filter, _ Result) (Result, error) { return Expire(ctx, q, f, reason) })
}

func batches(f Filter, each func(Result), do func(Filter, Result) (Result, error)) (total Result, err error) {
	limit := f.Limit
	for {
		f.Limit = batchSize
		if limit != 0 {
			f.Limit = min(batchSize, limit-total.Matched)
		}
		r, err := do(f, total)
		if err != nil {
			return total, err
		}
		total.add(r)
		if each != nil && r.Matched > 0 {
			each(total)
		}
		if r.Matched < f.Limit || limit != 0 && total.Matched >= limit {
			return total, nil
		}
		f.AfterID, f.told = max(f.AfterID, r.LastID), true
	}
}

func (r *Result) add(more Result) {
	r.Matched += more.Matched
	r.Done += more.Done
	r.Skipped += more.Skipped
	r.LastID = max(r.LastID, more.LastID)
next:
	for _, s := range more.Skips {
		for i := range r.Skips {
			if r.Skips[i].Why == s.Why {
				r.Skips[i].Count += s.Count
				continue next
			}
		}
		r.Skips = append(r.Skips, s)
	}
}
