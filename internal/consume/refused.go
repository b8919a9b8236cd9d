package consume

import (
	"context"
	"errors"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/work"
)

// refusal is the failure of an attempt whose verdict the database does not take: one that is stricter than this package must not make an
// event go round, nor hide why it failed.
type refusal struct {
	err  error  // the database's
	text string // what the verdict was for
}

func (r *refusal) Error() string { return "the verdict was refused (" + r.err.Error() + "): " + r.text }

// sayRefused is a line for operators: the handler and the database do not agree on what a verdict may be.
func (cfg *Config) sayRefused(d *nexus.Delivery, err error) {
	cfg.Log.Error("a verdict was refused, the event is retried", append(about(d), "error", err)...)
}

// settleAlone settles a result that was refused together with others, so that the one that cannot be settled as it is does not hold up the
// others. It becomes a plain failure that says why.
func (cfg *Config) settleAlone(ctx context.Context, r work.Result) ([]work.Outcome, error) {
	outcomes, err := cfg.Source.Settle(ctx, []work.Result{r})
	if errors.Is(err, nexus.ErrInvalid) {
		cfg.sayRefused(r.Item.Delivery(), err)
		plain := work.Result{Item: r.Item, Action: work.Retry, Reason: work.ReasonError, Policy: r.Policy}
		plain.Error = work.Storable((&refusal{err, r.Error}).Error(), work.MaxText)
		outcomes, err = cfg.Source.Settle(ctx, []work.Result{plain})
		if errors.Is(err, nexus.ErrInvalid) && plain.Policy != "" {
			plain.Policy = "" // it may be what cannot be settled
			outcomes, err = cfg.Source.Settle(ctx, []work.Result{plain})
		}
	}
	if errors.Is(err, nexus.ErrInvalid) {
		cfg.Log.Error("a result cannot be settled, the event runs again when its lease ends", append(about(r.Item.Delivery()), "error", err)...)
	}
	return outcomes, err
}
