// holds: lease-keeper

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

// kept are two things whose leases are kept.
type kept struct {
	t    *testing.T
	db   *database
	log  *strings.Builder
	a, b *thing
	pass func(time.Duration)
}

// keeping looks after two things for some time.
func keeping(t *testing.T, test func(c *kept)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &kept{t: t, db: &database{}, log: &strings.Builder{}, a: &thing{taken: time.Now()}, b: &thing{taken: time.Now()}}
		var mu sync.Mutex
		k := &Keeper{Source: c.db, Length: length, Key: "q", Lock: &mu, Log: slog.New(slog.NewTextHandler(c.log, nil)), Unavailable: func(error) {}}
		c.a.lease, c.b.lease = Taken(c.a, time.Now()), Taken(c.b, time.Now())
		all := []Held{c.a, c.b}
		c.pass = func(d time.Duration) {
			for over := time.Now().Add(d); time.Now().Before(over); {
				<-time.After(k.Every())
				mu.Lock()
				k.Look(t.Context(), time.Now(), slices.Values(all))
				mu.Unlock()
				synctest.Wait()
			}
		}
		test(c)
		k.Wait()
	})
}

func TestLeasesAreRenewedEachThirdOfThem(t *testing.T) {
	keeping(t, func(c *kept) {
		c.pass(length/3 - time.Second)
		if len(c.db.extended) != 0 {
			c.t.Fatalf("renewed too early: %v", c.db.extended)
		}
		c.pass(10 * length)
		if n := len(c.db.extended); n < 28 || n > 30 {
			c.t.Errorf("%d statements in ten leases", n)
		}
		if c.db.extended[0] != 2 || c.a.lost != nil || c.b.lost != nil {
			c.t.Errorf("leases a statement: %v; lost: %v, %v", c.db.extended, c.a.lost, c.b.lost)
		}
	})
}

func TestWhatIsOverOrAckedIsNotRenewed(t *testing.T) {
	keeping(t, func(c *kept) {
		c.a.over, c.b.acked = true, true
		c.pass(3 * length)
		if len(c.db.extended) != 0 || c.a.lost != nil || c.b.lost != nil {
			c.t.Errorf("renewed %v; lost: %v, %v", c.db.extended, c.a.lost, c.b.lost)
		}
	})
}

func TestALostLeaseIsSaidOnceAndNotRenewed(t *testing.T) {
	keeping(t, func(c *kept) {
		c.db.lost = []work.Item{c.a}
		c.pass(5 * length)
		if len(c.a.lost) != 1 || c.b.lost != nil || c.db.extended[1] != 1 {
			c.t.Errorf("lost: %v, %v; leases a statement: %v", c.a.lost, c.b.lost, c.db.extended)
		}
	})
}

// What a handler has settled itself meanwhile is not lost.
func TestAnAckMeanwhileIsNoLoss(t *testing.T) {
	keeping(t, func(c *kept) {
		c.db.lost, c.db.slow = []work.Item{c.a}, time.Second
		c.pass(length / 3)
		c.a.acked = true
		c.pass(length)
		if c.a.lost != nil || c.b.lost != nil {
			c.t.Errorf("lost: %v, %v", c.a.lost, c.b.lost)
		}
	})
}

// Whoever cannot renew must be done before somebody else may begin.
func TestALeaseThatCannotBeRenewedIsLostBeforeItsEnd(t *testing.T) {
	t.Parallel()
	for name, breakDown := range map[string]func(db *database){
		"refused": func(db *database) { db.err = errors.New("no") },
		"hangs":   func(db *database) { db.slow = time.Hour },
		"missing": func(db *database) { db.err = &nexus.Error{Code: nexus.CodeQueueLost} },
	} {
		t.Run(name, func(t *testing.T) {
			keeping(t, func(c *kept) {
				breakDown(c.db)
				c.pass(length)
				if len(c.a.lost) == 0 || c.a.lost[0] >= length || c.a.lost[0] < length*8/10 {
					c.t.Errorf("lost after %v of %s", c.a.lost, length)
				}
				want := 1
				if name == "missing" { // said elsewhere
					want = 0
				}
				if n := strings.Count(c.log.String(), "cannot renew leases"); n != want {
					c.t.Errorf("%d lines about it, want %d", n, want)
				}
				if n := len(c.db.extended); n > 30 {
					c.t.Errorf("%d statements of which none worked", n)
				}
				// An answer in time makes it good.
				c.db.err, c.db.slow = nil, 0
				c.pass(length)
				lost := len(c.a.lost)
				c.pass(length)
				if len(c.a.lost) != lost {
					c.t.Error("lost although it was renewed")
				}
			})
		})
	}
}
