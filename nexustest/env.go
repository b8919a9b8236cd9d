package nexustest

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// Main runs the tests of a package and then ends the server that they started, if they started one:
//
//	func TestMain(m *testing.M) { nexustest.Main(m) }
//
// Only a container needs it; it does not return.
func Main(m *testing.M) { dbtest.Main(m) }

// Env is a database with one namespace. Its methods end the test when something goes wrong that the test is not about.
type Env struct {
	queue.Emitter               // into the namespace
	Pool          *pgxpool.Pool // of a login that may do all that Nexus lets one do, and create its own tables, but is no superuser
	URL           string        // of the same login, for programs that connect by themselves
	SuperuserURL  string        // for what only a superuser may do, such as extensions

	t    testing.TB
	db   *dbtest.DB
	most int // deliveries a call of Work

	faults *faults
}

// New makes a database with the namespace ns, dropped when t ends. Its clock stands still at the time of the call.
func New(t testing.TB, ns nexus.Namespace) *Env {
	t.Helper()
	db := dbtest.New(t)
	db.SetNow(db.Now().Truncate(time.Millisecond))
	e := &Env{Emitter: queue.Emitter{Namespace: ns}, URL: db.Keep(), SuperuserURL: db.OwnerURL, t: t, db: db, most: most, faults: new(faults)}
	var err error
	if e.Pool, err = pgxpool.New(t.Context(), e.URL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Pool.Close)
	if err := queue.CreateNamespace(t.Context(), e.Pool, ns, nil); err != nil {
		t.Fatal(err)
	}
	return e
}

// Now is the database clock.
func (e *Env) Now() time.Time {
	e.t.Helper()
	return e.db.Now()
}

// Advance moves the database clock by d. What becomes due waits for Work.
func (e *Env) Advance(d time.Duration) {
	e.t.Helper()
	e.db.Advance(d)
}

// most is how many deliveries Work takes before it concludes that they will never end.
const most = 1000

// Work runs the upkeep and n.Work, inline, until nothing is due, and returns how many deliveries it took. What n was given by Add is
// declared the first time, and what is due on a schedule fires: a nightly task after Advance(24*time.Hour). Errors of
// handlers are settled as they would be in production, not reported: look at what they left, or at DeadLetters. Since the clock
// stands still, a handler that always asks to be called again at once would go on for ever; the test fails after 1,000
// deliveries. [node.Node.Work] has no such bound.
func (e *Env) Work(n *node.Node) int {
	e.t.Helper()
	done := 0
	for {
		e.db.Exec("select core.tick()")
		took, err := n.Work(e.failing(e.t.Context()), e.most-done)
		done += took
		switch {
		case err != nil:
			e.t.Fatalf("work: %v", err)
		case done >= e.most:
			e.t.Fatalf("work: still not done after %d deliveries; does a handler retry or emit without end?", done)
		case took == 0:
			return done
		}
	}
}
