// Package engine holds what the engines of a node have in common: what they are given, the turn that one of them has at a time, and how a
// verdict is settled that the database refuses.
package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/lease"
	"github.com/nexuspg/nexus/internal/places"
	"github.com/nexuspg/nexus/internal/work"
)

// ExitMargin is how long after the end of the grace time Stop still waits for handlers, and then for what is to be settled.
const ExitMargin = 900 * time.Millisecond

// Config of an engine.
type Config struct {
	Handlers   *handlers.Handlers
	Places     *places.Places // shared with other engines, and as many handlers at most run at once
	One        bool           // of consume: one item at a time, and none is claimed before the last one is settled
	NoExpress  bool           // of batch: all is claimed under leases
	Lease      time.Duration
	Poll       time.Duration
	Values     context.Context // what handlers' contexts inherit but for its end
	Middleware []invoke.Middleware
	Observer   work.Observer // may be nil
	Log        *slog.Logger

	Turn    *Turn         // of the node; nil: one of its own
	Absence *feed.Absence // likewise

	// Announce asks emitters to send a wake-up for this source for so long; zero takes that back. Whoever keeps a lookout for the source
	// from then on says what it sees by Looked.
	Announce func(ctx context.Context, d time.Duration) error

	// Unavailable is told of each failure that looks like a server that is away or read-only.
	Unavailable func(err error)
}

// Feed makes the feed of an engine that claims from a source.
func (cfg *Config) Feed(from Source) *feed.Feed {
	return feed.New(feed.Config{
		Key: from.Key(), Poll: cfg.Poll, Log: cfg.Log, Announce: cfg.Announce, Unavailable: cfg.Unavailable, Absence: cfg.Absence,
	})
}

// Keeper makes what renews the leases of an engine, which lock guards.
func (cfg *Config) Keeper(from Source, lock sync.Locker) lease.Keeper {
	return lease.Keeper{Source: from, Length: cfg.Lease, Key: from.Key(), Lock: lock, Log: cfg.Log, Unavailable: cfg.Unavailable}
}

// ErrNoRoom says that all connections for handlers are in use, so that nothing could be claimed.
var ErrNoRoom = errors.New("all connections for handlers are in use")

// IsLost reports whether err says that the lease is lost, which goes with its consumer.
func IsLost(err error) bool { return errors.Is(err, nexus.ErrLeaseLost) || feed.Dropped(err) }

// Await waits until cond, which is called with changed's lock held, or until ctx ends; it reports whether cond came true.
func Await(ctx context.Context, changed *sync.Cond, cond func() bool) bool {
	defer context.AfterFunc(ctx, func() {
		changed.L.Lock()
		defer changed.L.Unlock()
		changed.Broadcast()
	})()
	changed.L.Lock()
	defer changed.L.Unlock()
	for !cond() {
		if ctx.Err() != nil {
			return false
		}
		changed.Wait()
	}
	return true
}

// Refusal is the failure of an attempt whose verdict the database does not take: one that is stricter than this package must not make an
// event go round, nor hide why it failed.
type Refusal struct {
	Err  error  // the database's
	Text string // what the verdict was for
}

// Error implements error.
func (r *Refusal) Error() string { return "the verdict was refused (" + r.Err.Error() + "): " + r.Text }
