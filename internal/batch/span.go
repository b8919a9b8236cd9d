package batch

import "time"

const (
	maxSpan = 1000 // items a transaction; more gains little and is longer in the way

	// A transaction that took less than quickSpan may hold more, one that took longer than slowSpan holds too much.
	quickSpan = 50 * time.Millisecond
	slowSpan  = 200 * time.Millisecond

	// calmAfter is how many transactions have to go well after one that came to nothing: it ran again item by item.
	calmAfter = 20
)

// span is how many items an express transaction takes. Claiming, marking and committing cost the same for one item as for many,
// so where handlers are quick and there is a backlog it holds several calls of them.
type span struct {
	least int // what one call takes
	most  int
	now   int
	calm  int // how many have gone well since one came to nothing, less calmAfter
}

func newSpan(size int, grows bool) span {
	s := span{least: size, most: size, now: size}
	if grows {
		s.most = max(size, maxSpan)
	}
	return s
}

// committed learns from a transaction of n items, of which failed ones were undone alone.
func (s *span) committed(n, failed int, took time.Duration) {
	s.calm = min(s.calm+1, 0)
	switch {
	case took > slowSpan, failed > 0:
		s.now = max(s.now/2, s.least)
	case s.calm == 0 && n >= s.now && took < quickSpan:
		s.now = min(2*s.now, s.most)
	}
}

// undone learns that a transaction came to nothing.
func (s *span) undone() { s.now, s.calm = s.least, -calmAfter }
