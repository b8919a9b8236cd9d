package pgmqueue

import (
	"testing"
	"time"
)

// Two loops of a node are woken by the same event, and look at it in the same moment. A look of the one that locks it hides it from the
// other, which then rests. A window of more than twice the limit locks only what is taken.
func TestAnIdleEngineLocksNothingOfOthers(t *testing.T) {
	window := func(w *Walk, limit int, lone bool) int {
		a := Ask{Limit: limit}
		w.Begin(time.Now(), "", &a, limit, lone, false, false)
		return a.Window
	}
	for _, limit := range []int{1, 50, 200, 10_000} {
		if got := window(new(Walk), limit, true); got <= 2*limit && got != widest {
			t.Errorf("one that expects few looks at %d for a limit of %d", got, limit)
		}
	}
	// What is in hand is hidden, and a wide window counts it.
	if got := window(new(Walk), 100, false); got != 100 {
		t.Errorf("a busy one looks at %d for a limit of 100", got)
	}
	flooded := new(Walk)
	flooded.floor("").ahead = 1
	if got := window(flooded, 100, true); got != 100 {
		t.Errorf("with more to come it looks at %d for a limit of 100", got)
	}
}
