package engine

import (
	"context"
	"errors"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/work"
)

// SayRefused is a line for operators: the handler and the database do not agree on what a verdict may be.
func (cfg *Config) SayRefused(d *nexus.Delivery, err error) {
	cfg.Log.Error("a verdict was refused, the event is retried", append(handlers.About(d), "error", err)...)
}

// settleAlone settles a result that was refused together with others, so that the one that cannot be settled as it is does not hold up the
// others. It becomes a plain failure that says why.
func (cfg *Config) settleAlone(ctx context.Context, from Source, r work.Result) ([]work.Outcome, error) {
	outcomes, err := from.Settle(ctx, []work.Result{r})
	if errors.Is(err, nexus.ErrInvalid) {
		cfg.SayRefused(r.Item.Delivery(), err)
		plain := work.Result{Item: r.Item, Action: work.Retry, Reason: work.ReasonError, Policy: r.Policy}
		plain.Error = work.Storable((&Refusal{err, r.Error}).Error(), work.MaxText)
		outcomes, err = from.Settle(ctx, []work.Result{plain})
		if errors.Is(err, nexus.ErrInvalid) && plain.Policy != "" {
			plain.Policy = "" // it may be what cannot be settled
			outcomes, err = from.Settle(ctx, []work.Result{plain})
		}
	}
	if errors.Is(err, nexus.ErrInvalid) {
		cfg.Log.Error("a result cannot be settled, the event runs again when its lease ends", append(handlers.About(r.Item.Delivery()), "error", err)...)
	}
	return outcomes, err
}

// SettleApart settles results that were refused together one by one, and returns those that the database has not answered, with its
// last error.
func (cfg *Config) SettleApart(f *feed.Feed, from Source, results []work.Result) (left []work.Result, err error) {
	for _, r := range results {
		ctx, cancel := f.Exchange()
		outcomes, failed := cfg.settleAlone(ctx, from, r)
		cancel()
		switch {
		case failed == nil:
			cfg.SaySettled([]work.Result{r}, outcomes)
		case !errors.Is(failed, nexus.ErrInvalid):
			left, err = append(left, r), failed
		}
	}
	return left, err
}
