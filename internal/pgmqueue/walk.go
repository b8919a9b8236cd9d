package pgmqueue

import (
	"cmp"
	"time"

	"github.com/nexuspg/nexus/internal/work"
)

// walk decides where each claim of one engine looks: from a floor, or by due time. The mutex of the source guards it.
//
// Claims with other patterns pass over other rows, so each set of patterns has a floor of its own. What lies below all of them is found by
// sweeps, which they share.
type walk struct {
	floors    map[string][]*floor // by the key of the patterns that a claim is for; of each level
	levels    int                 // how many the queue has; 0: no claim has said yet
	turns     turns
	swept     [maxLevels]time.Time // when each level was last looked at from where it begins
	sweep     sweep
	leftAlone int64 // the lowest item that was left since another one had the turn; 0: none
}

func (w *walk) floor(key string) *floor { return w.floorsOf(key)[0] }

func (w *walk) floorsOf(key string) []*floor {
	f := w.floors[key]
	if f == nil {
		f = make([]*floor, max(w.levels, 1))
		for level := range f {
			start := int64(level) * levelSpan
			f[level] = &floor{start: start, base: start}
		}
		if w.floors == nil {
			w.floors = map[string][]*floor{}
		}
		w.floors[key] = f
	}
	return f
}

// have says how many levels the queue has. Each set of patterns then begins anew.
func (w *walk) have(levels int) {
	w.levels, w.floors, w.turns, w.swept = levels, nil, turns{}, [maxLevels]time.Time{}
}

// fits reports whether a claim looked at the levels that there are.
func (w *walk) fits(a look) bool {
	if w.levels > 1 {
		return len(a.order) == w.levels
	}
	return a.order == nil
}

// begin lays down where a claim looks. spread is how many rows it passes over, at least; lone says that few items are expected, and that
// those of others must not be locked meanwhile.
func (w *walk) begin(now time.Time, want *work.Want, spread int, lone bool) look {
	if want.Anew {
		delete(w.floors, want.Key)
	}
	if w.levels > 1 {
		return w.beginByLevel(now, want, spread, lone)
	}
	f := w.floor(want.Key)
	a := look{want: want, sent: now}
	a.floor, a.window = f.from(now, spread)
	if lone && f.ahead == 0 {
		// What is woken together looks at the same moment, and what one claim locks another passes over. A window of more than twice the
		// limit locks only what is taken.
		a.window = max(a.window, min(2*want.Limit+1, widest))
	}
	// The first claim says whether there are levels, of which a sweep by due time knows nothing.
	if a.sweep = w.levels > 0 && w.sweep.due(now, want.Woken, want.Rare); a.sweep {
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
	if a.order != nil {
		w.turns.failed(a.order)
	}
}

// end learns from a claim. It reports whether there is more to look at right away.
func (w *walk) end(now time.Time, a look, s *seen) (more bool) {
	if s.alone > 0 && (w.leftAlone == 0 || s.leftAlone < w.leftAlone) {
		w.leftAlone = s.leftAlone
	}
	switch {
	case s.levels == 1 && w.levels == 0:
		w.levels = 1
	case s.levels > 0 && s.levels != w.levels:
		w.failed(a)
		w.have(s.levels)
		return true
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
	case !w.fits(a): // it was sent before the number of levels was known
		w.failed(a)
		return true
	}
	if a.order != nil {
		return w.endByLevel(now, a, s)
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

// beginByLevel is begin for a queue with levels. A sweep looks at each of them from where it begins, since one by due time would see nothing but the
// oldest of all. Under a flood it does not get beyond the level with which it begins, so a lower one is looked at so in its own turns.
func (w *walk) beginByLevel(now time.Time, want *work.Want, spread int, lone bool) look {
	a := look{want: want, sent: now}
	floors := w.floorsOf(want.Key)
	if a.sweep = w.sweep.due(now, want.Woken, want.Rare); a.sweep {
		w.sweep.under = true
	}
	a.order = w.turns.order(len(floors))
	for n, level := range a.order {
		from, window := floors[level].from(now, spread)
		swept := a.sweep || n == 0 && level > 0 && now.Sub(w.swept[level]) >= max(sweepMax, min(sweepShare*w.sweep.took, sweepBackup))
		if swept {
			from = floors[level].start
		}
		a.swept = append(a.swept, swept)
		a.floors = append(a.floors, from)
		a.window = max(a.window, window)
	}
	if lone && floors[a.order[0]].ahead == 0 {
		a.window = max(a.window, min(2*want.Limit+1, widest))
	}
	if a.sweep {
		a.window = max(w.sweep.window, a.window)
	}
	return a
}

// endByLevel is end for a queue with levels.
func (w *walk) endByLevel(now time.Time, a look, s *seen) (more bool) {
	var took [maxLevels]int
	var empty [maxLevels]bool
	floors, looked := w.floorsOf(a.want.Key), 0
	limit := a.want.Limit
	if s.limited {
		limit = s.granted
	}
	parts := s.parts(a.order, limit)
	for n := range parts {
		p, f := &parts[n], floors[a.order[n]]
		filled := len(p.Items)+p.Buried >= p.limit
		took[a.order[n]] = len(p.Items)
		empty[a.order[n]] = !filled && p.looked < a.window
		looked = max(looked, p.looked)
		if !a.swept[n] {
			more = f.found(now, p.limit, a.window, p) || more
			continue
		}
		w.swept[a.order[n]] = now
		if filled {
			f.lower(cmp.Or(p.lowest, f.start))
			more = true
		}
	}
	w.turns.done(a.order, took, len(parts), empty)
	if a.sweep {
		spent := now.Sub(a.sent)
		if more {
			spent = 0
		}
		if crowded := w.sweep.done(now, spent, a.window, looked, more); crowded {
			for _, f := range floors {
				f.restart(now)
			}
			more = true
		}
	}
	if !more {
		w.sweep.reached(now)
	}
	return more && s.HeldBack == ""
}

// lower goes back to an item that was given back without being looked at.
func (w *walk) lower(key string, pos int64) {
	f := w.floorsOf(key)
	f[min(levelOf(pos), len(f)-1)].lower(pos)
}

// back goes back to where items were left that have to go alone.
func (w *walk) back() {
	if w.leftAlone > 0 {
		for key := range w.floors {
			w.lower(key, w.leftAlone)
		}
		w.leftAlone = 0
	}
}
