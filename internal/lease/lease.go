package lease

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/seldom"
	"github.com/nexuspg/nexus/internal/work"
)

// Extender renews leases and returns the items whose lease is lost.
type Extender interface {
	Extend(ctx context.Context, items []work.Item, lease time.Duration) ([]work.Item, error)
}

// Lease is that of one item. The lock of the engine guards it.
type Lease struct {
	item    work.Item
	counted time.Time // from when it lasts
	lost    bool
}

// Taken is the lease of an item that was claimed by a statement sent then.
func Taken(it work.Item, sent time.Time) Lease { return Lease{item: it, counted: sent} }

// Item is what is leased.
func (l *Lease) Item() work.Item { return l.item }

// Held is something in hand. Its methods are called under the lock of the engine.
type Held interface {
	// Lease is its lease, nil once it is over.
	Lease() *Lease

	// Lost says that it is somebody else's now, or soon will be.
	Lost(now time.Time)
}

// Keeper renews leases.
type Keeper struct {
	Source      Extender
	Length      time.Duration // of a lease
	Key         string        // names the source in the log
	Lock        sync.Locker   // of the engine
	Log         *slog.Logger
	Unavailable func(error) // is told of a server that is away

	// Guarded by Lock.
	under     bool // a statement is under way
	notBefore time.Time

	said  seldom.Line
	calls sync.WaitGroup
}

// Every is how often to look at what is held.
func (k *Keeper) Every() time.Duration {
	return min(max(k.Length/10, 20*time.Millisecond), 200*time.Millisecond)
}

// Look renews what is due of what is held, in a goroutine of its own that ends when ctx does. The caller holds the lock.
func (k *Keeper) Look(ctx context.Context, now time.Time, held iter.Seq[Held]) {
	var due []Held
	busy := k.under || now.Before(k.notBefore)
	for h := range held {
		l := h.Lease()
		if l == nil || l.lost || l.item.Acked() {
			continue // a handler that settles in a transaction of its own gives the lease up by doing so
		}
		age := now.Sub(l.counted)
		if age > k.Length-k.Length/10 {
			h.Lost(now)
		}
		if age > k.Length/3 && !busy {
			due = append(due, h)
		}
	}
	if len(due) > 0 {
		k.under = true
		k.calls.Go(func() { k.renew(ctx, due) })
	}
}

// Wait waits for the statement that is under way. Nobody may look any more.
func (k *Keeper) Wait() { k.calls.Wait() }

// renew extends leases in one statement, and says of those that are lost.
func (k *Keeper) renew(ctx context.Context, due []Held) {
	ctx, cancel := context.WithTimeout(ctx, k.Length/3)
	defer cancel()
	k.Lock.Lock()
	items := make([]work.Item, 0, len(due))
	for _, h := range due {
		if l := h.Lease(); l != nil {
			items = append(items, l.item)
		}
	}
	k.Lock.Unlock()
	sent := time.Now()
	lost, err := k.Source.Extend(ctx, items, k.Length)

	k.Lock.Lock()
	defer k.Lock.Unlock()
	k.under = false
	if err != nil {
		k.notBefore = time.Now().Add(min(k.Length/10, time.Second))
		if !feed.QueueLost(err) && !errors.Is(ctx.Err(), context.Canceled) && k.said.Due() {
			k.Log.Warn("cannot renew leases, trying on", "source", k.Key, "error", err)
		}
		if db.Unavailable(err) {
			go k.Unavailable(err)
		}
		return
	}
	gone := make(map[work.Item]bool, len(lost))
	for _, it := range lost {
		gone[it] = true
	}
	now := time.Now()
	for _, h := range due {
		switch l := h.Lease(); {
		case l == nil:
		case !gone[l.item]:
			l.counted = sent
		case !l.item.Acked():
			l.lost = true
			h.Lost(now)
		}
	}
}
