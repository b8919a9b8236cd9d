package pgmqueue

import (
	"time"

	"github.com/nexuspg/nexus/internal/work"
)

// walk decides where each claim of one engine looks: from a floor, or by due time. The mutex of the source guards it.
//
// Claims with other patterns pass over other rows, so each set of patterns has a floor of its own. What lies below all of them is found by
// sweeps, which they share.
type walk struct {
	floors    map[string]*floor // by the key of the patterns that a claim is for
	sweep     sweep
	leftAlone int64 // the lowest item that was left since another one had the turn; 0: none
}

func (w *walk) floor(key string) *floor {
	f := w.floors[key]
	if f == nil {
		if f = new(floor); w.floors == nil {
			w.floors = map[string]*floor{}
		}
		w.floors[key] = f
	}
	return f
}

// begin lays down where a claim looks. spread is how many rows it passes over, at least; lone says that few items are expected, and that
// those of others must not be locked meanwhile.
func (w *walk) begin(now time.Time, want *work.Want, spread int, lone bool) look {
	if want.Anew {
		delete(w.floors, want.Key)
	}
	f := w.floor(want.Key)
	a := look{want: want, sent: now}
	a.floor, a.window = f.from(now, spread)
	if lone && f.ahead == 0 {
		// What is woken together looks at the same moment, and what one claim locks another passes over. A window of more than twice the
		// limit locks only what is taken.
		a.window = max(a.window, min(2*want.Limit+1, widest))
	}
	if a.sweep = w.sweep.due(now, want.Woken, want.Rare); a.sweep {
		w.sweep.under = true
		a.window = max(w.sweep.window, a.window)
	}
	return a
}

// failed says that nobody knows what a claim saw.
func (w *walk) failed(a look) {
	if a.sweep {
		w.sweep.under = false
	}
}

// end learns from a claim. It reports whether there is more to look at right away.
func (w *walk) end(now time.Time, a look, s *seen) (more bool) {
	if s.alone > 0 && (w.leftAlone == 0 || s.leftAlone < w.leftAlone) {
		w.leftAlone = s.leftAlone
	}
	switch {
	case s.limited && s.granted == 0: // it has looked at nothing
		w.failed(a)
		return false
	case s.Few: // it has seen enough, and taken nothing
		w.failed(a)
		return false
	case s.lone: // it took one of those that go alone, and looked for nothing else
		w.failed(a)
		return true
	}
	f, limit := w.floor(a.want.Key), a.want.Limit
	if s.limited {
		limit = s.granted
	}
	if !a.sweep {
		more = f.found(now, limit, a.window, s)
	} else {
		took := now.Sub(a.sent)
		if more = len(s.Items)+s.Buried >= limit; more {
			// Too much for sweeps: let the ordinary walk have it, from there on. Taking so many is what took the time.
			f.lower(s.lowest)
			took = 0
		}
		if crowded := w.sweep.done(now, took, a.window, s.looked, more); crowded {
			f.restart(now)
			more = true
		}
	}
	if !more {
		w.sweep.reached(now)
	}
	return more && s.HeldBack == ""
}

// lower goes back to an item that was given back without being looked at.
func (w *walk) lower(key string, pos int64) { w.floor(key).lower(pos) }

// back goes back to where items were left that have to go alone.
func (w *walk) back() {
	if w.leftAlone > 0 {
		for _, f := range w.floors {
			f.lower(w.leftAlone)
		}
		w.leftAlone = 0
	}
}
