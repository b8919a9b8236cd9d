package consume

import (
	"context"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/work"
)

// observed begins the observation of a call with one delivery.
func (l *Loop) observed(ctx context.Context, t *task) context.Context {
	if l.Observer == nil {
		return ctx
	}
	ctx, t.end = l.Observer.Handling(ctx, []*nexus.Delivery{t.d})
	return ctx
}

// observedEnd ends it, if it began.
func (t *task) observedEnd(r work.Result, err error, late bool) {
	if t.end != nil {
		t.end([]work.Observed{{Result: r, Err: err, Late: late}}, t.took)
	}
}

// settledWith tells of an exchange that settled something.
func (l *Loop) settledWith(results []work.Result, outcomes []work.Outcome) {
	if l.Observer != nil && len(results) > 0 {
		l.Observer.Settled(results, outcomes)
	}
}
