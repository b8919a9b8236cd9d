package consume

import "github.com/nexuspg/nexus/internal/handlers"

// limit counts the items in hand, waiting or running, of a handler with Workers set. The loop's mutex guards it.
type limit struct {
	handler *handlers.Handler
	used    int
}

func (l *limit) left() int { return l.handler.Workers - l.used }
