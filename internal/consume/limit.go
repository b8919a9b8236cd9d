package consume

import "github.com/nexuspg/nexus/internal/handlers"

// limit counts the items in hand, waiting or running, of a handler with Workers set. The loop's mutex guards it.
type limit struct {
	handler *handlers.Handler
	used    int
}

func (l *limit) left() int { return l.handler.Workers - l.used }

// limitsOf are those of the handlers that an item passes through.
func (l *Loop) limitsOf(r *handlers.Route) (of []*limit) {
	if len(l.limits) == 0 {
		return nil
	}
	for _, h := range r.Handlers {
		if one := l.limits[h]; one != nil {
			of = append(of, one)
		}
	}
	return of
}
