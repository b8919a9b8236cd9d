// Package sqlhandler has functions in SQL handle events. A function (jsonb) of the application is subscribed to a pattern, in a consumer of its own,
// and runs as its owner, in the transaction that settles the event. What is asked of the function, and how it says retry, reject or release, stands
// in docs/guides/sql-handlers.md.
//
// Three run what is due: a node that was given a [Runner]; pg_cron, by its job nexus:work; and [Work], which the owner of the functions calls. All of
// them count the death of a session as an attempt of what ran in it, unlike core.work in psql, which commits nothing before handlers run.
package sqlhandler

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/sqlwork"
	"github.com/nexuspg/nexus/internal/svc"
)

// Options of a subscription; zero fields are not given.
type Options struct {
	Consumer       string            // its name; "": that of the function
	Timeout        time.Duration     // of one call by a node; 0: 30 s; 10 ms to 12 h
	Retry          nexus.RetryPolicy // zero fields: the namespace's
	UnhandledAfter time.Duration
	MaxInFlight    int    // most deliveries in hand at once, over all that run them; 0: any number
	Levels         int    // how many priorities of events its consumer tells apart, up to 4; 0: one
	Rate           string // most deliveries in a time, such as "100/min"; "": any number

	// Events with one ordering key are handled one after the other, of as many keys at once as there are lanes; 0: in no order. Such a consumer has no
	// UnhandledAfter, MaxInFlight, Levels and Rate.
	Lanes int
	Halt  bool // with Lanes: an event whose attempts are used up stops its lane until somebody lets it go on, and is no dead letter

	// Where a new consumer begins in the log; neither: with what is emitted from now on.
	FromBeginning bool
	FromTime      time.Time
}

func (o *Options) encode() (string, error) {
	e := db.NewOptions("subscribe", "")
	if o != nil {
		if o.FromBeginning && !o.FromTime.IsZero() {
			return "", &nexus.Error{
				Op: "subscribe", Code: nexus.CodeOptionValue, Field: "from", Message: "both FromBeginning and FromTime are set", Hint: "set one of them",
			}
		}
		e.Text("consumer", o.Consumer)
		e.Duration("timeout", o.Timeout)
		e.Retry("retry", o.Retry)
		e.Duration("unhandled_after", o.UnhandledAfter)
		e.Number("max_in_flight", int64(o.MaxInFlight))
		e.Number("levels", int64(o.Levels))
		e.Text("rate", o.Rate)
		if o.Lanes != 0 {
			e.Text("kind", "ordered")
			e.Number("lanes", int64(o.Lanes))
		}
		if o.Halt {
			e.Text("exhausted", "halt")
		}
		if o.FromBeginning {
			e.Text("from", "beginning")
		}
		e.Time("from", o.FromTime)
	}
	return e.Encode()
}

// Subscribe has a function, such as "app.on_order(jsonb)", handle the events of a pattern, in a consumer of its own, whose name it returns. It takes a login in
// the role of the function's owner. Said again nothing happens; another function or timeout for that consumer is [nexus.ErrConflict]. A function that may
// not be called as it is, is [nexus.ErrInvalid], code [nexus.CodeSQLHandler], with the line that mends it as the hint. opts may be nil.
func Subscribe(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, pattern, function string, opts *Options) (consumer string, err error) {
	options, err := opts.encode()
	if err != nil {
		return "", err
	}
	err = db.Call(ctx, q, "subscribe", "select core.subscribe($1::text, $2::text, $3::text::regprocedure, $4::text::jsonb)",
		[]any{string(ns), pattern, function, options}, &consumer)
	return consumer, err
}

// Unsubscribe takes the function from a consumer, and says whether it had one. The consumer goes on getting its events, which wait. It takes the owner of
// the function, or the duty to operate.
func Unsubscribe(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, consumer string) (had bool, err error) {
	err = db.Call(ctx, q, "unsubscribe", "select core.unsubscribe($1::text, $2::text)", []any{string(ns), consumer}, &had)
	return had, err
}

// Counts are what became of the events that [Work] took.
type Counts struct{ Handled, Retried, Buried, Released int }

// Work runs the handlers that the login of the pool owns, in transactions of a claim and of what was claimed, until nothing is due, limit events are done
// (0: any number) or ctx ends; what is claimed by then is run first. It takes a connection from the pool for good once a handler ran on it, since what a
// handler leaves there is nobody else's.
func Work(ctx context.Context, pool *pgxpool.Pool, ns nexus.Namespace, limit int) (Counts, error) {
	did, err := sqlwork.Own(ctx, pool, ns, limit, slog.Default())
	return Counts(did), err
}

// Runner runs all SQL handlers of a node's namespace, whoever owns them: n.Add(&sqlhandler.Runner{URL: url}).
type Runner struct {
	URL string // of the same database, as the login nexus_sql, which has no other right; not through a pooler
}

// Declare sees that the URL is one of nexus_sql.
func (r *Runner) Declare(ctx context.Context, h *svc.Host) error {
	s, err := sqlwork.New(r.URL)
	if err != nil {
		return err
	}
	return s.Declare(ctx, h)
}

// Runner runs them.
func (r *Runner) Runner(h *svc.Host) svc.Runner {
	s, err := sqlwork.New(r.URL)
	if err != nil {
		return nil // Declare said so
	}
	return s.Runner(h)
}
