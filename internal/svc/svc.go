// Package svc is what a node and the services it runs (workflows, outbox processors, SQL handlers, declared schedules) have in common.
// The node imports none of their packages and they do not import the node: both know the Host.
//
//	Declare ──▶ Runner ──▶ Start ──▶ runs ─────────────▶ Stop ──▶ ended
//	   │                             Wake by its keys      │ the grace time is over: Host.Handling ends
//	   │ an error ends the node      LastFetch, Stuck:     │ exitMargin later: the node ends without it
//	   ▼                             the node's health     ▼
//
// A service claims, runs and settles what is its own; how is its business. What it shares with all that the node runs comes from the Host: places for
// handlers, wake-ups, health, grace, metrics, and what the database is told that the node can do.
package svc

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/feed"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/places"
	"github.com/nexuspg/nexus/internal/work"
)

// Sole is a service of which a node takes one: of two, each would get what falls to it by chance.
type Sole interface {
	// Sole names what there is one for.
	Sole() string
}

// Host is what a service is given by the node that runs it.
type Host struct {
	Namespace nexus.Namespace
	NodeID    string
	Own       *pgxpool.Pool // a few connections of the node itself: claims, settling, heartbeats; never held by user code
	Handlers  *pgxpool.Pool // the program's pool, for the transactions that user code runs in
	Session   *invoke.Session
	Logger    *slog.Logger

	// Places are for user code that holds a connection of Handlers, LeasedPlaces for that which holds none. No user code runs without one.
	Places, LeasedPlaces *places.Places

	Lease      time.Duration
	Poll       time.Duration
	Timeout    time.Duration // of an attempt that says none; negative: none
	Retry      nexus.RetryPolicy
	Middleware []invoke.Middleware

	// Handling is the context of user code. It carries the values of Run's context and ends, with the cause nexus.ErrDraining, when the node
	// has drained for its grace time: until then what runs may finish. Of Work it is the caller's.
	Handling context.Context

	// Observer watches what is handled for a consumer, or whatever stands in its place, of types that fall under these patterns.
	Observer func(consumer string, patterns []string, pattern func(eventType string) string) work.Observer

	// Answered notes an answer to a request, as package answer tells it; nil: nobody counts them.
	Answered func(ctx context.Context, status int, fault string, took time.Duration, abandoned bool)

	// Lanes notes what became of n messages of a consumer's lanes, or that there will be some; nil: nobody counts them.
	Lanes func(consumer, result string, n int)

	// Steps watches what is run for workflows; nil: nobody does.
	Steps work.StepObserver

	// Announce asks whoever writes to send wake-ups by key for so long; zero takes that back.
	Announce func(ctx context.Context, key string, d time.Duration) error

	// Can says what the service can do from now on, in place of what it said before. The node tells the database, also after it had to register
	// anew. After an error what was said before holds. Of Work it does nothing: such a node is not known to others.
	Can func(ctx context.Context, can work.Abilities) error

	// Unavailable is told of each failure that looks like a server that is away or read-only.
	Unavailable func(err error)

	// Patiently repeats f while the database is away, or cannot do it just now.
	Patiently func(ctx context.Context, f func(context.Context) error) error

	// Fail ends the node, whose Run returns err.
	Fail func(err error)
}

// Feed says when to claim from a source that is called by key.
func (h *Host) Feed(key string) *feed.Feed {
	return feed.New(feed.Config{
		Key: key, Poll: h.Poll, Log: h.Logger, Unavailable: h.Unavailable,
		Announce: func(ctx context.Context, d time.Duration) error { return h.Announce(ctx, key, d) },
	})
}

// Runner runs a service for one life of a node. The node calls Start once, and Stop once after that; or Work, and neither.
type Runner interface {
	Keys() []string // of the wake-ups that are for it; they may change
	Wake()          // may be called at any time, and does not wait

	Start() // does not wait either

	// LastFetch is when its source last answered, or when it had no room to ask; zero if it asks nobody. The node counts as healthy by the oldest.
	LastFetch() time.Time

	// Stuck is how many of its places have user code that ignores the end of its context, and since when all have; zero if one is left.
	Stuck() (places int, all time.Time)

	// Stop takes up nothing new, lets what runs finish, whose context ends with the grace time, and returns when all is settled. The node waits for
	// it a little longer than grace.
	Stop(grace context.Context)

	// Work does inline up to limit of what is due, and returns how much.
	Work(ctx context.Context, limit int) (int, error)
}
