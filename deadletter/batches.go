package deadletter

import (
	"context"

	"github.com/nexuspg/nexus"
)

// batchSize keeps a batch far below a second, so that what others want of its rows waits for no longer.
const batchSize = 1000

// ReplayAll is [Replay] in batches of 1,000 until the filter picks no more or its Limit is reached. On a pool each batch commits by
// itself: stopped or killed half way, the same call goes on with the rest, and the rate holds over all batches, those of
// the killed one too. each, if not nil, hears the total after every batch. A dry run is done in batches, too, each undone.
func ReplayAll(ctx context.Context, q nexus.DBTX, f Filter, opts *ReplayOptions, each func(Result)) (Result, error) {
	return batches(f, each, func(f Filter, _ Result) (Result, error) { return Replay(ctx, q, f, opts) })
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
