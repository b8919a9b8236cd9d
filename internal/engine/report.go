package engine

import (
	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/work"
)

// about names a delivery and the handlers that it goes through in the log.
func (cfg *Config) about(d *nexus.Delivery) []any { return cfg.Handlers.Route(work.KindOf(d)).About(d) }

// SayClaimed tells of an answered claim.
func (cfg *Config) SayClaimed(from Source, got work.Got) {
	if cfg.Observer != nil {
		cfg.Observer.Claimed(got.Items, got.Buried)
	}
	if got.HeldBack != "" && cfg.Observer != nil {
		cfg.Observer.HeldBack(got.HeldBack)
	}
	if got.Buried > 0 {
		cfg.Log.Warn("gave up on events whose processes died, they are dead letters now", "count", got.Buried, "source", from.Key())
	}
}

// SayFailed tells of an attempt that did not go well.
func (cfg *Config) SayFailed(d *nexus.Delivery, r work.Result) {
	switch r.Action {
	case work.Retry:
		cfg.Log.Warn("attempt failed", append(cfg.about(d), "reason", r.Reason, "error", work.Storable(r.Error, 300))...)
	case work.Reject:
		cfg.Log.Debug("event rejected", append(cfg.about(d), "reason", work.Storable(r.Reason, 300))...)
	}
}

// SaySettled tells of results that the database has answered.
func (cfg *Config) SaySettled(results []work.Result, outcomes []work.Outcome) {
	if cfg.Observer != nil && len(results) > 0 {
		cfg.Observer.Settled(results, outcomes)
	}
	for _, o := range outcomes {
		switch d := o.Item.Delivery(); o.Kind {
		case work.Lost:
			cfg.SayLost(d)
		case work.Halted:
			cfg.Log.Warn("the attempts are used up, the lane stands at this event", append(cfg.about(d), "reason", work.Storable(o.Reason, 300))...)
		case work.Buried:
			cfg.Log.Warn("gave up on event, it is a dead letter now", append(cfg.about(d), "reason", work.Storable(o.Reason, 300))...)
		}
	}
}

// SayDropped tells of results whose consumer is gone, and the items with it.
func (cfg *Config) SayDropped(results []work.Result) {
	outcomes := make([]work.Outcome, len(results))
	for i, r := range results {
		outcomes[i] = work.Outcome{Item: r.Item, Kind: work.Lost}
	}
	cfg.SaySettled(results, outcomes)
}

// SayLost tells of a result that was refused, since somebody else has the item.
func (cfg *Config) SayLost(d *nexus.Delivery) {
	cfg.Log.Warn("lease lost, the result was refused", handlers.About(d)...)
	if cfg.Observer != nil {
		cfg.Observer.LeaseLost(d)
	}
}

// SayGivenUp tells of handlers that ignore the end of their context, by the deliveries that they have.
func (cfg *Config) SayGivenUp(list ...*nexus.Delivery) {
	what := []any{"events", len(list)}
	if len(list) == 1 {
		what = cfg.about(list[0])
	}
	cfg.Log.Error("handlers ignore the end of their context, one of their places is stuck", what...)
}
