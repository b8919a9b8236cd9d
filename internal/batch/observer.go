package batch

import (
	"context"
	"time"

	"github.com/nexuspg/nexus/internal/work"
)

// observed begins the observation of a call with a batch.
func (b *Batches) observed(ctx context.Context, items []*entry) (context.Context, func([]work.Observed, time.Duration)) {
	if b.Observer == nil {
		return ctx, nil
	}
	return b.Observer.Handling(ctx, own(items))
}

// sight is an observation of a call with a batch.
type sight struct {
	began time.Time
	end   func(results []work.Observed, took time.Duration)
}

// over ends it for a call that went well, or that came to nothing as a whole.
func (s *sight) over(items int, err error, good bool) {
	if s.end == nil {
		return
	}
	results := make([]work.Observed, items)
	for i := range results {
		results[i] = work.Observed{Err: err, Late: !good}
	}
	s.end(results, time.Since(s.began))
}

// failed ends it for a call after which some items are known to have failed.
func (s *sight) failed(items []*entry, known []work.Result, err error) {
	if s.end == nil {
		return
	}
	results := make([]work.Observed, len(items))
	for i, m := range items {
		results[i] = work.Observed{Err: err, Late: true}
		for _, r := range known {
			if r.Item == m.Item {
				results[i] = work.Observed{Result: r, Err: err}
			}
		}
	}
	s.end(results, time.Since(s.began))
}
