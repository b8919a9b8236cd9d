package lease

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/work"
)

const length = 30 * time.Second

type thing struct {
	work.Item
	acked bool
	lease Lease
	over  bool
	lost  []time.Duration // since it was taken
	taken time.Time
}

func (t *thing) Acked() bool { return t.acked }

func (t *thing) Lease() *Lease {
	if t.over {
		return nil
	}
	return &t.lease
}

func (t *thing) Lost(now time.Time) { t.lost = append(t.lost, now.Sub(t.taken)) }

// database answers the calls of a keeper.
type database struct {
	extended []int // how many leases each statement was for
	lost     []work.Item
	err      error
	slow     time.Duration
}

func (d *database) Extend(ctx context.Context, items []work.Item, _ time.Duration) ([]work.Item, error) {
	d.extended = append(d.extended, len(items))
	if d.slow > 0 {
		select {
		case <-time.After(d.slow):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return d.lost, d.err
}

// keeping looks after two things for some time.
func keeping(t *testing.T, test func(t *testing.T, _ *Keeper, db *database, log *strings.Builder, a, b *thing, pass func(time.Duration))) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db, log := &database{}, &strings.Builder{}
		var mu sync.Mutex
		k := &Keeper{Source: db, Length: length, Key: "q", Lock: &mu, Log: slog.New(slog.NewTextHandler(log, nil)), Unavailable: func(error) {}}
		a, b := &thing{taken: time.Now()}, &thing{taken: time.Now()}
		a.lease, b.lease = Taken(a, time.Now()), Taken(b, time.Now())
		all := []Held{a, b}
		test(t, k, db, log, a, b, func(d time.Duration) {
			for over := time.Now().Add(d); time.Now().Before(over); {
				<-time.After(k.Every())
				mu.Lock()
				k.Look(t.Context(), time.Now(), slices.Values(all))
				mu.Unlock()
				synctest.Wait()
			}
		})
		k.Wait()
	})
}

func TestLeasesAreRenewedEachThirdOfThem(t *testing.T) {
	keeping(t, func(t *testing.T, _ *Keeper, db *database, _ *strings.Builder, a, b *thing, pass func(time.Duration)) {
		pass(length/3 - time.Second)
		if len(db.extended) != 0 {
			t.Fatalf("renewed too early: %v", db.extended)
		}
		pass(10 * length)
		if n := len(db.extended); n < 28 || n > 30 {
			t.Errorf("%d statements in ten leases", n)
		}
		if db.extended[0] != 2 || a.lost != nil || b.lost != nil {
			t.Errorf("leases a statement: %v; lost: %v, %v", db.extended, a.lost, b.lost)
		}
	})
}

func TestWhatIsOverOrAckedIsNotRenewed(t *testing.T) {
	keeping(t, func(t *testing.T, _ *Keeper, db *database, _ *strings.Builder, a, b *thing, pass func(time.Duration)) {
		a.over, b.acked = true, true
		pass(3 * length)
		if len(db.extended) != 0 || a.lost != nil || b.lost != nil {
			t.Errorf("renewed %v; lost: %v, %v", db.extended, a.lost, b.lost)
		}
	})
}

func TestALostLeaseIsSaidOnceAndNotRenewed(t *testing.T) {
	keeping(t, func(t *testing.T, _ *Keeper, db *database, _ *strings.Builder, a, b *thing, pass func(time.Duration)) {
		db.lost = []work.Item{a}
		pass(5 * length)
		if len(a.lost) != 1 || b.lost != nil || db.extended[1] != 1 {
			t.Errorf("lost: %v, %v; leases a statement: %v", a.lost, b.lost, db.extended)
		}
	})
}

// What a handler has settled itself meanwhile is not lost.
func TestAnAckMeanwhileIsNoLoss(t *testing.T) {
	keeping(t, func(t *testing.T, _ *Keeper, db *database, _ *strings.Builder, a, b *thing, pass func(time.Duration)) {
		db.lost, db.slow = []work.Item{a}, time.Second
		pass(length / 3)
		a.acked = true
		pass(length)
		if a.lost != nil || b.lost != nil {
			t.Errorf("lost: %v, %v", a.lost, b.lost)
		}
	})
}

// Whoever cannot renew must be done before somebody else may begin.
func TestALeaseThatCannotBeRenewedIsLostBeforeItsEnd(t *testing.T) {
	for name, breakDown := range map[string]func(db *database){
		"refused": func(db *database) { db.err = errors.New("no") },
		"hangs":   func(db *database) { db.slow = time.Hour },
		"missing": func(db *database) { db.err = &nexus.Error{Code: nexus.CodeQueueLost} },
	} {
		t.Run(name, func(t *testing.T) {
			keeping(t, func(t *testing.T, _ *Keeper, db *database, log *strings.Builder, a, _ *thing, pass func(time.Duration)) {
				breakDown(db)
				pass(length)
				if len(a.lost) == 0 || a.lost[0] >= length || a.lost[0] < length*8/10 {
					t.Errorf("lost after %v of %s", a.lost, length)
				}
				want := 1
				if name == "missing" { // said elsewhere
					want = 0
				}
				if n := strings.Count(log.String(), "cannot renew leases"); n != want {
					t.Errorf("%d lines about it, want %d", n, want)
				}
				if n := len(db.extended); n > 30 {
					t.Errorf("%d statements of which none worked", n)
				}
				// An answer in time makes it good.
				db.err, db.slow = nil, 0
				pass(length)
				lost := len(a.lost)
				pass(length)
				if len(a.lost) != lost {
					t.Error("lost although it was renewed")
				}
			})
		})
	}
}
