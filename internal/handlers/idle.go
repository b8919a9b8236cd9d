package handlers

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Idle is a setting of a handler that can have no effect beside that of another one.
type Idle struct {
	Handler  string // its name
	Field    string
	Value    any
	Other    string // the handler whose setting decides
	Decides  any
	Together string // why there is one for both
}

func (i *Idle) Error() string {
	return fmt.Sprintf("Handler(%s).%s is %v and has no effect: Handler(%s) says %v, and %s", i.Handler, i.Field, i.Value, i.Other, i.Decides, i.Together)
}

// NoneIdle returns the first setting that can have no effect, nil if there is none. timeout is what handlers have that say nothing.
func (hs *Handlers) NoneIdle(timeout time.Duration) error {
	for i, a := range hs.list {
		for j, b := range hs.list {
			if i == j || !covers(a.Pattern, b.Pattern) {
				continue
			}
			if idle := idleUnder(a, b, i < j, timeout); idle != nil {
				return idle
			}
		}
	}
	_, _, groups := hs.Split()
	for _, g := range groups {
		for i, a := range g.list {
			for _, b := range g.list[i+1:] {
				if idle := idleBeside(a, b); idle != nil {
					return idle
				}
			}
		}
	}
	return nil
}

// idleUnder looks for settings of b that a, which gets all of its events too, leaves nothing to. first says that a was registered before b.
func idleUnder(a, b *Handler, first bool, timeout time.Duration) error {
	idle := func(field string, value, decides any, together string) error {
		return &Idle{Handler: b.Name, Field: field, Value: value, Other: a.Name, Decides: decides, Together: together}
	}
	if first {
		const one = "one policy serves an event, in which the handler that was registered first decides"
		switch r, s := a.Retry, b.Retry; {
		case differ(r.MaxAttempts, s.MaxAttempts):
			return idle("Retry.MaxAttempts", s.MaxAttempts, r.MaxAttempts, one)
		case differ(r.Shape, s.Shape):
			return idle("Retry.Shape", s.Shape, r.Shape, one)
		case differ(r.Base, s.Base):
			return idle("Retry.Base", s.Base, r.Base, one)
		case differ(r.Max, s.Max):
			return idle("Retry.Max", s.Max, r.Max, one)
		case differ(r.Jitter, s.Jitter):
			return idle("Retry.Jitter", s.Jitter, r.Jitter, one)
		}
	}
	if b.Timeout > 0 && b.Timeout != timeout && (a.Timeout < 0 || b.Timeout < a.Timeout) {
		decides := any(a.Timeout)
		if a.Timeout < 0 {
			decides = "none"
		}
		return idle("Timeout", b.Timeout, decides, "handlers of one event share a context, which lives as long as the longest of them")
	}
	if a.Workers > 0 && b.Workers > a.Workers {
		return idle("Workers", b.Workers, a.Workers, "each event of the one goes through the other")
	}
	return nil
}

// idleBeside looks for settings of two that share their transactions.
func idleBeside(a, b *Handler) error {
	idle := func(field string, value, decides any) error {
		return &Idle{Handler: b.Name, Field: field, Value: value, Other: a.Name, Decides: decides, Together: "they share their transactions, since their events meet"}
	}
	switch {
	case differ(a.Size, b.Size):
		return idle("Batch", b.Size, a.Size)
	case differ(a.Linger, b.Linger):
		return idle("Linger", b.Linger, a.Linger)
	case differ(a.Workers, b.Workers):
		return idle("Workers", b.Workers, a.Workers)
	}
	return nil
}

// differ reports whether both say something, and not the same.
func differ[T cmp.Ordered](a, b T) bool {
	var none T
	return a != none && b != none && a != b
}

// covers reports whether each event type that falls under b falls under a.
func covers(a, b string) bool {
	pa, wa := wildcard(a)
	pb, wb := wildcard(b)
	switch {
	case wa && wb:
		return strings.HasPrefix(pb, pa)
	case wa:
		return strings.HasPrefix(b, pa)
	}
	return !wb && a == b
}
