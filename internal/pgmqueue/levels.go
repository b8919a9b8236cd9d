package pgmqueue

import (
	"cmp"

	"github.com/nexuspg/nexus/internal/envelope"
)

// levelSpan is how many message ids each level of a queue has for itself, as core_private.level_offset lays them out.
const levelSpan = 1_000_000_000_000_000

// maxLevels is how many levels a queue may have.
const maxLevels = envelope.MaxLevels

// levelOf is the level of a message, the first one 0. What was put there by hand beyond all levels is of the last one.
func levelOf(msgID int64) int { return int(min(max(msgID/levelSpan, 0), maxLevels-1)) }

// shares are how many items of the levels before it may go before one of a level: for each 8, 16 and 32 one.
var shares = [maxLevels]int{0, 8, 16, 32}

// turns decides with which level a claim begins. That is the first one, unless a lower one has had to wait for too many of those before it: so
// it keeps its share under a flood, and costs no more than its share. What it gets while nothing waits before it counts for nothing.
type turns struct {
	waits  [maxLevels]int // items of the levels before it, counted against its share; below 0 after a turn
	taking [maxLevels]bool
}

// order is in which order a claim looks at the levels; done or failed follows. Of those that have waited too long the one goes first that has waited longest, measured by
// its share.
func (t *turns) order(levels int) []int {
	first := 0
	for i := 1; i < levels; i++ {
		if !t.taking[i] && t.waits[i] >= shares[i] && (first == 0 || t.waits[i]*shares[first] > t.waits[first]*shares[i]) {
			first = i
		}
	}
	t.taking[first] = true
	order := []int{first}
	for level := range levels {
		if level != first {
			order = append(order, level)
		}
	}
	return order
}

// failed says that nobody knows what a claim took.
func (t *turns) failed(order []int) { t.taking[order[0]] = false }

// done learns from a claim: from which levels it took how many items, at how many of these it looked, and in which of those nothing was left.
func (t *turns) done(order []int, took [maxLevels]int, looked int, empty [maxLevels]bool) {
	first := order[0]
	t.taking[first] = false
	for n, level := range order {
		switch {
		case n < looked && (empty[level] || level != first):
			t.waits[level] = 0 // nothing waits there, or it had what others left
		case level == first:
			t.waits[level] -= shares[level] * took[level]
		default:
			for before := range level {
				t.waits[level] += took[before]
			}
		}
	}
}

// parts are what a claim has seen of each level, in the order of looking.
func (s *seen) parts(order []int, limit int) []seen {
	parts := make([]seen, min(len(order), len(s.windows)))
	room, last := limit, len(order)-1 // which has what is left of levels that there were
	for n := range parts {
		p, level := &parts[n], order[n]
		p.looked, p.scannedTo, p.limit = s.windows[n].looked, s.windows[n].scannedTo, room
		for _, it := range s.Items {
			if id := it.(*delivery).msgID; min(levelOf(id), last) == level {
				p.Items = append(p.Items, it)
				p.lowest, p.highest = cmp.Or(p.lowest, id), id
			}
		}
		for at, buried := range s.buried {
			if min(at, last) == level {
				p.Buried += buried
			}
		}
		room = max(room-len(p.Items)-p.Buried, 1)
	}
	return parts
}
