package workflow_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

const ns = "shop"

// The test binary runs itself again as a node that can be killed.
const (
	envChildURL  = "NEXUS_TEST_CHILD_URL"
	envChildMode = "NEXUS_TEST_CHILD_MODE"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(envChildURL); url != "" {
		if err := child(url, os.Getenv(envChildMode)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	dbtest.Main(m)
}

// newDB has a table of what steps did.
func newDB(t *testing.T) *dbtest.DB {
	t.Helper()
	db := dbtest.New(t)
	db.Namespace(ns)
	db.Exec(`create table public.effect (n bigint generated always as identity, run uuid, what text, attempt int, at timestamptz default core.now())`)
	db.Exec(`grant all on public.effect to public`)
	return db
}

// inOrder is what steps of all runs did.
const inOrder = `select coalesce(string_agg(what, ' ' order by n), '') from public.effect`

// execer is a pool or a transaction.
type execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// note writes down that a step of a run has done something.
func note(ctx context.Context, q execer, run uuid.UUID, what string, attempt int) error {
	_, err := q.Exec(ctx, `insert into public.effect (run, what, attempt) values ($1, $2, $3)`, run, what, attempt)
	return err
}

func newNode(db *dbtest.DB, cfg node.Config) *node.Node {
	cfg.Namespace = ns
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
		if os.Getenv("NEXUS_TEST_LOG") != "" {
			cfg.Logger = slog.Default()
		}
	}
	if cfg.Poll == 0 {
		cfg.Poll = 20 * time.Millisecond
	}
	return node.New(db.Pool, cfg)
}

// start runs a node with these workflows until the test ends.
func start(t *testing.T, db *dbtest.DB, cfg node.Config, services ...node.Service) (stop func()) {
	t.Helper()
	n := newNode(db, cfg)
	n.Add(services...)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	var once atomic.Bool
	stop = func() {
		if cancel(); once.CompareAndSwap(false, true) {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	for _, s := range services {
		if w, ok := s.(interface{ Name() string }); ok {
			db.Wait(`select exists (select from core_private.node_capabilities c join core.nodes n using (node_id, incarnation)
				where c.kind = 'workflow' and c.key ^@ ($1 || '#') and n.state in ('starting', 'active'))`, w.Name())
		}
	}
	return stop
}

// begin starts a run.
func begin[In, Out any](t *testing.T, db *dbtest.DB, w *workflow.Workflow[In, Out], in In, opts *workflow.StartOptions) uuid.UUID {
	t.Helper()
	run, started, err := w.Start(t.Context(), db.Pool, ns, in, opts)
	if err != nil || !started {
		t.Fatal(started, err)
	}
	return run
}

// await waits for a run for a minute at most.
func await[In, Out any](t *testing.T, db *dbtest.DB, w *workflow.Workflow[In, Out], run uuid.UUID) (Out, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return w.Await(ctx, db.Pool, run)
}

func leaks(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("github.com/jackc/pgx/v5/pgxpool.(*Pool).backgroundHealthCheck"))
	})
}

var quick = nexus.RetryPolicy{MaxAttempts: 3, Base: time.Millisecond, Max: time.Millisecond, Jitter: -1}

// patience is how long a test waits for a run.
var patience = time.Minute
