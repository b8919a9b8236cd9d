package invoke

import (
	"context"

	"github.com/nexuspg/nexus"
)

// Middleware wraps a call of handlers.
type Middleware func(ctx context.Context, batch []*nexus.Delivery, next func(context.Context) error) error

// Wrapped calls run inside the middleware.
func Wrapped(ctx context.Context, all []Middleware, batch []*nexus.Delivery, run func(context.Context) error) error {
	for i := len(all) - 1; i >= 0; i-- {
		m, next := all[i], run
		run = func(ctx context.Context) error { return m(ctx, batch, next) }
	}
	return run(ctx)
}
