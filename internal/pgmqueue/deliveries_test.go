package pgmqueue

import (
	"testing"
	"time"

	"github.com/nexuspg/nexus/internal/work"
)

// A claim that cannot be sent, since a result that goes with it cannot be written, ends the sweep that it was to make: else none would come again.
func TestASweepThatIsNotSentIsNotUnderWay(t *testing.T) {
	t.Parallel()
	s := &Deliveries{Queue: "q", Node: func() string { return "n" }}
	s.walk.levels = 1
	broken := []work.Result{{Item: &delivery{msgID: 1}, Action: work.Retry, Policy: "{"}}
	for range 2 {
		if _, err := s.Claim(t.Context(), broken, work.Want{Types: []string{"*"}, Limit: 1, Lease: time.Minute}); err == nil {
			t.Fatal("results that are no JSON were sent")
		}
		if s.walk.sweep.under {
			t.Error("the sweep counts as under way")
		}
	}
	if !s.look(&work.Want{Limit: 1}, 1, false).sweep {
		t.Error("no sweep comes any more")
	}
}
