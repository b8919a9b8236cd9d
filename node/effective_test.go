package node_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
)

// withConns is a pool of so many connections.
func withConns(t *testing.T, db *dbtest.DB, n int32) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns = n
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// Each setting and each pair of settings of which one can have no effect: it is refused by name. The pool has ten connections.
// holds: no-effect (each setting, each pair)
func TestWhatHasNoEffectIsRefused(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	pool := withConns(t, db, 10)
	tx := func(context.Context, pgx.Tx, *nexus.Delivery) error { return nil }
	batch := func(context.Context, pgx.Tx, []*nexus.Delivery) error { return nil }
	leased := func(context.Context, *nexus.Delivery) error { return nil }
	type (
		cfg = node.Config
		hs  = []*node.Handler
		set = func(n *node.Node) hs
	)
	on := func(pattern string) set { return func(n *node.Node) hs { return hs{n.On(pattern, tx)} } }
	onBatch := func(pattern string) set { return func(n *node.Node) hs { return hs{n.OnBatch(pattern, batch)} } }
	onLeased := func(pattern string) set { return func(n *node.Node) hs { return hs{n.OnLeased(pattern, leased)} } }
	both := func(sets ...set) set {
		return func(n *node.Node) (all hs) {
			for _, s := range sets {
				all = append(all, s(n)...)
			}
			return all
		}
	}
	for name, c := range map[string]struct {
		cfg   cfg
		with  set
		then  func(h hs)
		field string // "": it is taken
	}{
		"Workers without a handler in a transaction":  {cfg{Workers: 4}, onLeased("x"), nil, "Config.Workers"},
		"Workers beyond the pool":                     {cfg{Workers: 11}, on("x"), nil, "Config.Workers"},
		"Workers of all connections":                  {cfg{Workers: 10}, on("x"), nil, ""},
		"Workers of a node without handlers":          {cfg{Workers: 50, LeasedWorkers: 9, Express: time.Second}, both(), nil, ""},
		"LeasedWorkers without OnLeased":              {cfg{LeasedWorkers: 4}, on("x"), nil, "Config.LeasedWorkers"},
		"LeasedWorkers with OnBatch Leased only":      {cfg{LeasedWorkers: 4}, onBatch("x"), func(h hs) { h[0].Leased = true }, "Config.LeasedWorkers"},
		"LeasedWorkers beyond the pool":               {cfg{LeasedWorkers: 500}, onLeased("x"), nil, ""},
		"too many LeasedWorkers":                      {cfg{LeasedWorkers: 10_001}, onLeased("x"), nil, "Config.LeasedWorkers"},
		"Express without an express handler":          {cfg{Express: time.Second}, both(on("x"), onLeased("y")), nil, "Config.Express"},
		"Express with OnBatch Leased only":            {cfg{Express: time.Second}, onBatch("x"), func(h hs) { h[0].Leased = true }, "Config.Express"},
		"Express with an express On":                  {cfg{Express: time.Second}, on("x"), func(h hs) { h[0].Express = true }, ""},
		"a Base beyond Max":                           {cfg{Retry: nexus.RetryPolicy{Base: time.Hour, Max: time.Minute}}, on("x"), nil, "Config.Retry"},
		"Handler.Workers beyond Config.Workers":       {cfg{Workers: 4}, on("x"), func(h hs) { h[0].Workers = 5 }, "Handler(x).Workers"},
		"Handler.Workers beyond the pool":             {cfg{}, on("x"), func(h hs) { h[0].Workers = 11 }, "Handler(x).Workers"},
		"Handler.Workers of a batch beyond the pool":  {cfg{}, onBatch("x"), func(h hs) { h[0].Workers = 11 }, "Handler(x).Workers"},
		"Handler.Workers of all connections":          {cfg{}, on("x"), func(h hs) { h[0].Workers = 10 }, ""},
		"Handler.Workers beyond LeasedWorkers":        {cfg{LeasedWorkers: 4}, onLeased("x"), func(h hs) { h[0].Workers = 5 }, "Handler(x).Workers"},
		"Handler.Workers beyond the default of 50":    {cfg{}, onLeased("x"), func(h hs) { h[0].Workers = 200 }, ""},
		"Handler.Workers beyond a handler's of all":   {cfg{}, both(on("*"), on("x")), func(h hs) { h[0].Workers, h[1].Workers = 2, 3 }, "Handler(x).Workers"},
		"Handler.Workers below a handler's of all":    {cfg{}, both(on("*"), on("x")), func(h hs) { h[0].Workers, h[1].Workers = 3, 2 }, ""},
		"Workers of batches that meet":                {cfg{}, both(onBatch("a.*"), onBatch("a.b"), onBatch("*")), func(h hs) { h[0].Workers, h[2].Workers = 2, 3 }, "Handler(*).Workers"},
		"Batch of one event at a time":                {cfg{}, on("x"), func(h hs) { h[0].Batch = 5 }, "Handler(x).Batch"},
		"Linger of one event at a time":               {cfg{}, onLeased("x"), func(h hs) { h[0].Linger = time.Second }, "Handler(x).Linger"},
		"Linger for a batch of one":                   {cfg{}, onBatch("x"), func(h hs) { h[0].Batch, h[0].Linger = 1, time.Second }, "Handler(x).Linger"},
		"Batch of batches that meet":                  {cfg{}, both(onBatch("x"), onBatch("*")), func(h hs) { h[0].Batch, h[1].Batch = 5, 10 }, "Handler(*).Batch"},
		"Batch of one of the batches that meet":       {cfg{}, both(onBatch("x"), onBatch("*")), func(h hs) { h[0].Batch = 5 }, ""},
		"Batch of batches that meet through a third":  {cfg{}, both(onBatch("a.*"), onBatch("b.*"), onBatch("*")), func(h hs) { h[0].Batch, h[1].Batch = 5, 10 }, "Handler(b.*).Batch"},
		"Batch of batches apart":                      {cfg{}, both(onBatch("a.*"), onBatch("b.*")), func(h hs) { h[0].Batch, h[1].Batch = 5, 10 }, ""},
		"Linger of batches that meet":                 {cfg{}, both(onBatch("x"), onBatch("*")), func(h hs) { h[0].Linger, h[1].Linger = time.Second, time.Minute }, "Handler(*).Linger"},
		"Leased on On":                                {cfg{}, on("x"), func(h hs) { h[0].Leased = true }, "Handler(x).Leased"},
		"Express on OnLeased":                         {cfg{}, onLeased("x"), func(h hs) { h[0].Express = true }, "Handler(x).Express"},
		"Express and Leased":                          {cfg{}, onBatch("x"), func(h hs) { h[0].Leased, h[0].Express = true, true }, "Handler(x).Leased"},
		"Express on OnBatch, which it is":             {cfg{}, onBatch("x"), func(h hs) { h[0].Express = true }, ""},
		"Leased on OnLeased, which it is":             {cfg{}, onLeased("x"), func(h hs) { h[0].Leased = true }, ""},
		"when to retry what is not retried":           {cfg{}, on("x"), func(h hs) { h[0].Retry = nexus.RetryPolicy{MaxAttempts: 1, Base: time.Second} }, "Handler(x).Retry"},
		"the handler's Base beyond its Max":           {cfg{}, on("x"), func(h hs) { h[0].Retry = nexus.RetryPolicy{Base: time.Hour, Max: time.Minute} }, "Handler(x).Retry"},
		"attempts after an earlier handler's":         {cfg{}, both(on("*"), on("x")), func(h hs) { h[0].Retry.MaxAttempts, h[1].Retry.MaxAttempts = 3, 5 }, "Handler(x).Retry.MaxAttempts"},
		"a shape after an earlier handler's":          {cfg{}, both(on("x"), on("x")), func(h hs) { h[0].Retry.Shape, h[1].Retry.Shape = nexus.Linear, nexus.Constant }, "Handler(x).Retry.Shape"},
		"a base after an earlier handler's":           {cfg{}, both(on("a.*"), on("a.b.*")), func(h hs) { h[0].Retry.Base, h[1].Retry.Base = 3, 5 }, "Handler(a.b.*).Retry.Base"},
		"a max after an earlier handler's":            {cfg{}, both(on("*"), on("x")), func(h hs) { h[0].Retry.Max, h[1].Retry.Max = 3, 5 }, "Handler(x).Retry.Max"},
		"a jitter after an earlier handler's":         {cfg{}, both(on("*"), on("x")), func(h hs) { h[0].Retry.Jitter, h[1].Retry.Jitter = .3, -1 }, "Handler(x).Retry.Jitter"},
		"attempts before a later handler's":           {cfg{}, both(on("x"), on("*")), func(h hs) { h[0].Retry.MaxAttempts, h[1].Retry.MaxAttempts = 3, 5 }, ""},
		"the same attempts":                           {cfg{}, both(on("*"), on("x")), func(h hs) { h[0].Retry.MaxAttempts, h[1].Retry.MaxAttempts = 3, 3 }, ""},
		"attempts of handlers apart":                  {cfg{}, both(on("y"), on("x")), func(h hs) { h[0].Retry.MaxAttempts, h[1].Retry.MaxAttempts = 3, 5 }, ""},
		"a Timeout below the default beside it":       {cfg{}, both(on("x"), on("x")), func(h hs) { h[1].Timeout = time.Second }, "Handler(x).Timeout"},
		"a Timeout below that of all":                 {cfg{}, both(on("x"), on("*")), func(h hs) { h[0].Timeout, h[1].Timeout = time.Second, time.Minute }, "Handler(x).Timeout"},
		"a Timeout below none":                        {cfg{Timeout: -1}, both(on("x"), on("*")), func(h hs) { h[0].Timeout = time.Second }, "Handler(x).Timeout"},
		"a Timeout above that of all":                 {cfg{}, both(on("x"), on("*")), func(h hs) { h[0].Timeout, h[1].Timeout = time.Hour, time.Minute }, ""},
		"a Timeout for all, and the default for some": {cfg{}, both(on("x"), on("*")), func(h hs) { h[1].Timeout = time.Minute }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.cfg.Namespace = ns
			n := node.New(pool, c.cfg)
			if handlers := c.with(n); c.then != nil {
				c.then(handlers)
			}
			_, err := n.Work(t.Context(), 0)
			if c.field == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			e, is := errors.AsType[*nexus.Error](err)
			if !is || e.Field != c.field || !errors.Is(err, nexus.ErrInvalid) || e.Hint == "" || !strings.Contains(e.Message, c.field) {
				t.Errorf("%v; want an error that names %s and the mend", err, c.field)
			}
		})
	}
}

// Leased handlers hold no connection, so their number is their own: fifty on a pool of four, or what is asked for.
// holds: H2-workers
func TestLeasedWorkersAreTheirOwn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg  node.Config
		of   int // Handler.Workers
		want int
	}{
		"default":         {node.Config{}, 0, 50},
		"of the node":     {node.Config{LeasedWorkers: 7}, 0, 7},
		"of the handler":  {node.Config{}, 60, 60},
		"of fewer":        {node.Config{LeasedWorkers: 7}, 3, 3},
		"beside On":       {node.Config{Workers: 1}, 0, 50},
		"of one like all": {node.Config{LeasedWorkers: 7}, 7, 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			c.cfg.Namespace = ns
			n := node.New(withConns(t, db, 4), c.cfg)
			release := make(chan struct{})
			var now atomic.Int32
			h := n.OnLeased("mail", func(context.Context, *nexus.Delivery) error {
				now.Add(1)
				<-release
				return nil
			})
			h.Workers = c.of
			if c.cfg.LeasedWorkers == 0 {
				n.On("order", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
			}
			start(t, n)
			emitTypes(t, db, c.want+10, "mail")
			eventually(t, "as many at once as there may be", time.Minute, func() bool { return int(now.Load()) >= c.want })
			if c.cfg.LeasedWorkers == 0 {
				emit(t, db, "order", nil) // has workers of its own
				db.Wait(`select count(*) = 1 from public.effect`)
			}
			if got := int(now.Load()); got != c.want {
				t.Errorf("%d at once, want %d", got, c.want)
			}
			close(release)
			db.Wait(queueEmpty)
		})
	}
}

// What one handler of a group of batches says holds for it, not the default of the others.
// holds: no-effect
func TestBatchOfOneOfTwoHandlers(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	var sizes []int
	n.OnBatch("*", func(context.Context, pgx.Tx, []*nexus.Delivery) error { return nil })
	n.OnBatch("x", func(_ context.Context, _ pgx.Tx, batch []*nexus.Delivery) error {
		sizes = append(sizes, len(batch))
		return nil
	}).Batch = 5
	emitMany(t, db, 12)
	if _, err := n.Work(t.Context(), 100); err != nil {
		t.Fatal(err)
	}
	if len(sizes) < 3 || slices.Max(sizes) > 5 {
		t.Errorf("batches of %v, want none beyond 5", sizes)
	}
}

// Who fails is named in the log, by the names that its handlers were given.
func TestHandlersAreNamedInTheLog(t *testing.T) {
	t.Parallel()
	for name := range everyMode(nil) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			var out bytes.Buffer
			n := node.New(db.Pool, node.Config{Namespace: ns, Logger: slog.New(slog.NewTextHandler(&out, nil))})
			reject := func(context.Context, pgx.Tx, *nexus.Delivery) error { return nexus.Reject("no") }
			everyMode(db)[name](n, "x", reject).Name = "billing"
			emitMany(t, db, 1)
			if _, err := n.Work(t.Context(), 10); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), "handler=billing") {
				t.Errorf("the log does not name it:\n%s", &out)
			}
			if strings.Count(out.String(), "level=WARN") != 1 || !strings.Contains(out.String(), "reason=no") {
				t.Errorf("want one warning, with the reason:\n%s", &out)
			}
		})
	}
}
