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

const (
	// Stay is how long handlers may go on after their context ended before an engine settles without them.
	Stay = 5 * time.Second

	// ExitMargin is how long after the end of the grace time Stop still waits for handlers, and then for what is to be settled.
	ExitMargin = 900 * time.Millisecond
)

// Config of an engine.
type Config struct {
	Handlers   *handlers.Handlers
	Places     *places.Places // shared with other engines, and as many handlers at most run at once
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

// BrokenLimit is how many releases a delivery may have before a lost connection counts as its failure: an event that makes
// the server crash each time would go round for ever.
const BrokenLimit = 10

// EndedEarly is the result of handlers that ended the node's transaction. What they wrote may be committed without the ack,
// so another attempt might do it twice: that is for people to decide.
func EndedEarly(how, err error) work.Result {
	text := how.Error()
	if err != nil && err != invoke.ErrEnded { //nolint:errorlint // the methods of a handler's error stay out of this
		text += "; its error: " + invoke.TextOf(err)
	}
	return work.Result{Action: work.Reject, Reason: work.ReasonEnded, Error: work.Storable(text, work.MaxText)}
}

// IsLost reports whether err says that the lease is lost.
func IsLost(err error) bool { return errors.Is(err, nexus.ErrLeaseLost) }

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
