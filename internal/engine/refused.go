package engine

import (
	"context"
	"errors"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/work"
)

// Refusal is the failure of an attempt whose verdict the database does not take: one that is stricter than this package must not make an
// event go round, nor hide why it failed.
type Refusal struct {
	Err  error  // the database's
	Text string // what the verdict was for
}

// Error implements error.
func (r *Refusal) Error() string { return "the verdict was refused (" + r.Err.Error() + "): " + r.Text }

// SayRefused is a line for operators: the handler and the database do not agree on what a verdict may be.
func (cfg *Config) SayRefused(d *nexus.Delivery, err error) {
	cfg.Log.Error("a verdict was refused, the event is retried", append(handlers.About(d), "error", err)...)
}

// SettleAlone settles a result that was refused together with others, so that the one that cannot be settled as it is does not hold up the
// others. It becomes a plain failure that says why.
func (cfg *Config) SettleAlone(ctx context.Context, from Source, r work.Result) ([]work.Outcome, error) {
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
