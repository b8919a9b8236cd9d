package pgmqueue

import "time"

// Walk decides where each claim of one engine looks: from a floor, or by due time. The engine's mutex guards it.
//
// Claims with other patterns pass over other rows, so each set of patterns has a floor of its own. What lies below all of them is found by
// sweeps, which they share.
type Walk struct {
	floors    map[string]*Floor // by the patterns that a claim is for
	sweep     sweep
	leftAlone int64 // the lowest item that was left since another one had the turn; 0: none
}

func (w *Walk) floor(key string) *Floor {
	f := w.floors[key]
	if f == nil {
		if f = new(Floor); w.floors == nil {
			w.floors = map[string]*Floor{}
		}
		w.floors[key] = f
	}
	return f
}

// Begin lays down where a claim looks; key stands for its patterns. spread is how many rows it passes over, at least; lone says
// that few items are expected, and that those of others must not be locked meanwhile.
func (w *Walk) Begin(now time.Time, key string, a *Ask, spread int, lone, woken, rare bool) {
	f := w.floor(key)
	a.Floor, a.Window = f.From(now, spread)
	if lone && f.ahead == 0 {
		// What is woken together looks at the same moment, and what one claim locks another passes over. A window of more than twice the
		// limit locks only what is taken.
		a.Window = max(a.Window, min(2*a.Limit+1, widest))
	}
	if a.Sweep = w.sweep.due(now, woken, rare); a.Sweep {
		w.sweep.under = true
		a.Window = max(w.sweep.window, a.Window)
	}
}

// Failed says that nobody knows what a claim saw.
func (w *Walk) Failed(a Ask) {
	if a.Sweep {
		w.sweep.under = false
	}
}

// End learns from a claim, which took so long. It reports whether there is more to look at right away.
func (w *Walk) End(now time.Time, took time.Duration, key string, a Ask, found Found) (more bool) {
	f := w.floor(key)
	if !a.Sweep {
		more = f.Found(now, a.Limit, a.Window, found)
	} else {
		if more = len(found.Items)+found.Buried >= a.Limit; more {
			// Too much for sweeps: let the ordinary walk have it, from there on. Taking so many is what took the time.
			f.lower(found.Lowest)
			took = 0
		}
		if crowded := w.sweep.done(now, took, a.Window, found.Looked, more); crowded {
			f.restart(now)
			more = true
		}
	}
	if !more {
		w.sweep.reached(now)
	}
	return more
}

// Lower goes back to an item that was given back without being looked at.
func (w *Walk) Lower(key string, pos int64) { w.floor(key).lower(pos) }

// Left notes where items were left that have to go alone.
func (w *Walk) Left(found Found) {
	if w.leftAlone == 0 || found.LeftAlone < w.leftAlone {
		w.leftAlone = found.LeftAlone
	}
}

// Back goes back to where items were left that have to go alone.
func (w *Walk) Back() {
	if w.leftAlone > 0 {
		for _, f := range w.floors {
			f.lower(w.leftAlone)
		}
		w.leftAlone = 0
	}
}
