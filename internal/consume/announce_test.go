package consume

import (
	"context"
	"slices"
	"testing"
	"time"
)

// What a claimer decided before the other one is not said after it.
func TestAnOldAnnouncementIsNotMade(t *testing.T) {
	t.Parallel()
	var said []time.Duration
	l := &Loop{Config: Config{Announce: func(_ context.Context, d time.Duration) error {
		said = append(said, d)
		return nil
	}}, ctx: t.Context()}
	l.pace.announced = time.Now()
	l.announce(announceFor)
	l.announce(0) // decided before
	l.pace.announced = time.Time{}
	l.announce(announceFor) // decided before
	l.announce(0)
	if want := []time.Duration{announceFor, 0}; !slices.Equal(said, want) {
		t.Errorf("the database heard %v, want %v", said, want)
	}
}
