package batch

import (
	"context"
	"errors"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/work"
)

// haltKind says why a transaction as a whole came to nothing.
type haltKind uint8

const (
	haltFailed  haltKind = iota // by a failure that cannot be undone alone
	haltTimeout                 // of a handler
	haltLimit                   // express took too long
	haltLost                    // the connection
	haltFence                   // somebody else has an item
	haltDrained
	haltEnded // by a statement of a handler
)

func (k haltKind) String() string {
	return [...]string{"failed", "timeout", "express limit", "connection lost", nexus.ErrLeaseLost.Error(), nexus.ErrDraining.Error(), work.ReasonEnded}[k]
}

type halt struct {
	kind   haltKind
	reason string
	end    invoke.End
	blamed []*entry        // haltEnded: those whose handlers did it, or may have
	stuck  <-chan struct{} // closed when handlers that ignored the end of their context are back; nil if they were not stuck

	late, release func() // what is left to do then
}

// blame names those whose handlers ended the transaction.
func (h *halt) blame(items []*entry) {
	if h != nil && h.kind == haltEnded {
		h.blamed = items
	}
}

// undone tells what undoes the whole transaction; nil if the savepoint is enough, or nothing is wrong.
func (r *shared) undone(e invoke.End) *halt {
	if e.Err == nil {
		return nil // what was done counts, however late, if it commits
	}
	late, ok := e.Err.(*errLate) //nolint:errorlint // made here, a moment ago
	if r.tx.Outlived() {
		return &halt{kind: haltFailed, reason: work.ReasonError, end: invoke.End{Err: invoke.ErrOutlives}}
	}
	if r.tx.Ended() {
		if ok {
			e = invoke.End{Err: late.err}
		}
		return &halt{kind: haltEnded, end: e}
	}
	if h := r.ours(e); h != nil {
		return h
	}
	switch {
	case ok:
		return &halt{kind: haltTimeout, end: invoke.End{Err: late.err}}
	case r.tx.Lost():
		return r.broke(e)
	}
	return nil
}

// ours is the halt if the end of the handlers' context was our doing, whatever they returned then.
func (r *shared) ours(e invoke.End) *halt {
	cause := context.Cause(r.ctx)
	switch {
	case errors.Is(cause, nexus.ErrDraining):
		return &halt{kind: haltDrained, end: e}
	case errors.Is(cause, nexus.ErrLeaseLost):
		return &halt{kind: haltFence, end: e}
	case errors.Is(cause, errLimit), r.express && time.Since(r.t.began) >= r.b.limit:
		return &halt{kind: haltLimit, end: e} // the server's own limits come at the same time
	}
	return nil
}

// broke tells what it means that a statement of the loop failed, or that the transaction is over.
func (r *shared) broke(e invoke.End) *halt {
	if h := r.ours(e); h != nil {
		return h
	}
	if invoke.Replaced(e.Err) {
		return &halt{kind: haltEnded, end: e} // and another one begun
	}
	if r.tx.Broken(e.Err) {
		return &halt{kind: haltLost, end: e}
	}
	return &halt{kind: haltFailed, reason: work.ReasonError, end: e}
}

// ignored is the halt of handlers that were given up.
func (r *shared) ignored(e invoke.End, late <-chan struct{}, release func()) *halt {
	h := r.ours(e)
	if h == nil {
		h = &halt{kind: haltTimeout, end: e}
	}
	h.stuck, h.release = late, release
	return h
}

// quit gives the transaction up. Handlers that do not come back keep their place.
func (r *shared) quit(h *halt) {
	b, t := r.b, r.t
	if h.stuck == nil {
		r.tx.Close(b.Context())
		return
	}
	list := own(t.items)
	b.SayGivenUp(list...)
	b.mu.Lock()
	call := t.call
	t.call = nil
	b.stuck[call] = list
	b.lacking++
	t.lacks = true
	b.share.Stick(1)
	b.share.Hold(b.need())
	b.mu.Unlock()
	r.tx.Sever()
	go func() {
		<-h.stuck
		h.late()
		h.release()
		r.tx.Discard()
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.stuck, call)
		b.share.Stick(-1)
		b.share.Done(b.need())
		b.changed.Broadcast()
		b.Stir()
	}()
}

var errLimit = errors.New("the batch takes longer than the express limit")
