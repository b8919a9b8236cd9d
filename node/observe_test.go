package node_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/telemetry"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/workflow"
)

// scrape returns values by name and labels: of a histogram the number of its observations.
func scrape(t *testing.T, reg prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetValue())
			}
			key := strings.TrimPrefix(f.GetName(), "nexus_") + " " + strings.Join(labels, " ")
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				values[key] = m.GetCounter().GetValue()
			case dto.MetricType_GAUGE:
				values[key] = m.GetGauge().GetValue()
			case dto.MetricType_HISTOGRAM:
				values[key] = float64(m.GetHistogram().GetSampleCount())
			default:
				t.Errorf("%s is a %s", f.GetName(), f.GetType())
			}
		}
	}
	return values
}

// eventually waits until f returns true.
func eventually(t *testing.T, what string, within time.Duration, f func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !f() {
		if time.Since(began) > within {
			t.Fatalf("%s: not within %s", what, within)
		}
		<-tick.C
	}
	return time.Since(began)
}

// holds: metrics
func TestMetrics(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	reg := prometheus.NewRegistry()
	n := node.New(db.Pool, node.Config{Namespace: ns, Lease: patient, Registerer: reg})
	flaky := n.On("order.*", func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error {
		switch {
		case d.Type == "order.bad":
			return nexus.Reject("bad")
		case d.Type == "order.flaky" && d.Attempt == 1:
			return errors.New("boom")
		}
		return nil
	})
	flaky.Retry = quick
	release := make(chan struct{})
	n.OnLeased("slow", func(_ context.Context, d *nexus.Delivery) error {
		if d.Deferrals == 0 {
			return nexus.Release(time.Millisecond)
		}
		<-release
		return nil
	})
	stolen := false
	n.OnLeased("stolen", func(ctx context.Context, _ *nexus.Delivery) error {
		if !stolen {
			stolen = true
			db.Exec(`update pgmq.q_core_events_shop set read_ct = read_ct + 1 where message ->> 'eventType' = 'stolen'`)
			<-ctx.Done() // and the late result is none that was delivered
		}
		return nil
	})
	node.OnRequest(n, price, func(context.Context, *nexus.DeliveryOf[question]) (string, error) { return "", nil }) // whose counts begin at zero
	db.Exec("select core.tick()")                                                                                   // sweeps have an age once they ran
	db.Exec("select core.outbox_register_queue('shop', 'pay', 1)")
	n.Add(outbox.HandleLeased("pay", func(context.Context, *outbox.Item) error { return nil }))
	w := workflow.New[int, int]("count")
	workflow.Step(w, "one", func(context.Context, *workflow.Run[int]) (int, error) { return 1, nil })
	n.Add(w)
	began := time.Now()
	start(t, n)
	db.Wait(`select count(*) = 1 from core.workflow_definitions`)
	if _, _, err := w.Start(t.Context(), db.Pool, ns, 1, nil); err != nil {
		t.Fatal(err)
	}
	db.Wait(`select count(*) = 1 from core.workflow_runs where status = 'completed'`)
	db.Exec("update core_private.metric_samples set sampled_at = '-infinity'") // what is counted seldom has not seen the workflow
	for _, typ := range []string{"order.placed", "order.paid", "order.bad", "order.flaky", "slow", "stolen", "nobody"} {
		emit(t, db, typ, nil)
	}
	running := "handlers_running default shop"
	want := map[string]float64{
		"events_delivered_total default order.* shop":          3,
		"events_retried_total default order.* shop":            1,
		"events_dead_lettered_total default order.* shop":      1,
		"events_released_total default slow shop":              1,
		"leases_lost_total default stolen shop":                1,
		"events_delivered_total default stolen shop":           1,
		"handler_duration_seconds default order.* shop ack":    3,
		"handler_duration_seconds default order.* shop retry":  1,
		"handler_duration_seconds default order.* shop reject": 1,
		"handler_duration_seconds default slow shop release":   1,
		"handler_duration_seconds default stolen shop ack":     2,
		"workflow_step_duration_seconds shop ack count":        1,
		"workflow_runs shop completed":                         1,
		running:                                                1,
	}
	var got map[string]float64
	var missing string
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(missing)
		}
	})
	// A lease that ended is found by a sweep, and on a busy machine these are up to a minute apart.
	var age time.Duration
	eventually(t, "the counts", 2*time.Minute, func() bool {
		got = scrape(t, reg)
		age = time.Since(began)
		for key, v := range want {
			if got[key] != v {
				missing = fmt.Sprintf("%s is %v, want %v", key, got[key], v)
				return false
			}
		}
		return true
	})
	for key, least := range map[string]float64{
		"events_emitted_total shop": 7, "pickup_lag_seconds default shop": 6, "claim_batch_deliveries default shop": 1, "node_ready shop": 1,
	} {
		if got[key] < least {
			t.Errorf("%s is %v, want at least %v", key, got[key], least)
		}
	}
	for key, most := range map[string]float64{"heartbeat_age_seconds shop": age.Seconds(), "fetch_age_seconds shop": 10} {
		if v, there := got[key]; !there || v < 0 || v > most {
			t.Errorf("%s is %v, want at most %v", key, v, most)
		}
	}
	close(release)
	eventually(t, "no handler runs", time.Minute, func() bool { return scrape(t, reg)[running] == 0 })

	// Everything that is promised is there, and nothing else, whatever happened: names, kinds and labels.
	promised := map[string]bool{}
	for _, m := range telemetry.Metrics() {
		promised[strings.TrimPrefix(m.Name, "nexus_")] = false
	}
	for key := range got {
		name, _, _ := strings.Cut(key, " ")
		if _, there := promised[name]; !there {
			t.Errorf("%s is exported and not promised", name)
		}
		promised[name] = true
	}
	for name, seen := range promised {
		if !seen {
			t.Errorf("%s is promised and not exported", name)
		}
	}
	for key := range got {
		if strings.Contains(key, "order.bad") || strings.Contains(key, "nobody") {
			t.Errorf("%s tells an event's type", key)
		}
	}
}

// What waits is sampled from the database, once for all nodes, and is of this namespace.
// holds: metrics
func TestMetricsOfQueues(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Namespace("other")
	db.Exec(`select core.emit('shop', 'nobody'), core.emit('shop', 'nobody'), core.emit('other', 'nobody'),
		core.emit('shop', 'nobody', '1', '{"delay": "1 h"}')`)
	reg := prometheus.NewRegistry()
	db.Exec(`insert into core.dead_letters (namespace, source_kind, source_ref, payload, attempts, failed_at, reason) select 'shop', 'task', to_jsonb(g), '1', 1, core.now(), 'r' from generate_series(1, 2) g;
		select core.claim_dead_letters('{"namespace": "shop", "limit": 1}', '1 day')`)
	var nodes []*node.Node
	for range 2 {
		n := node.New(db.Pool, node.Config{Namespace: ns, Registerer: reg})
		n.On("order.placed", func(context.Context, pgx.Tx, *nexus.Delivery) error { return nil })
		nodes = append(nodes, n)
	}
	ends := []func(){start(t, nodes[0]), start(t, nodes[1])}
	for _, n := range nodes {
		eventually(t, "a node is ready", time.Minute, func() bool { return n.Ready() == nil })
	}
	got := scrape(t, reg)
	for key, v := range map[string]float64{
		"queue_messages default shop in_flight": 0, "queue_messages default shop delayed": 1,
		"dead_letters_unresolved shop": 2, "dead_letters_claimed shop": 1, "node_ready shop": 1,
	} {
		if have, there := got[key]; !there || have != v {
			t.Errorf("%s is %v, want %v", key, have, v)
		}
	}
	// A sweep may have parked what nobody handles.
	if n := got["queue_messages default shop visible"] + got["queue_messages default shop parked"]; n != 2 {
		t.Errorf("%v messages wait, want 2", n)
	}
	for key := range got {
		if strings.Contains(key, "queue_messages") && strings.Contains(key, "other") {
			t.Errorf("%s is of another namespace", key)
		}
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core_private.metric_samples`); n != 1 {
		t.Errorf("%d samples for two nodes and one scrape of them", n)
	}
	for _, end := range ends {
		end()
	}
	for key := range scrape(t, reg) {
		if strings.Contains(key, "age_seconds shop") || strings.Contains(key, "node_ready") {
			t.Errorf("%s is still exported after the nodes have stopped", key)
		}
	}
}

// A node can send heartbeats and yet be deaf: here the queue's table is locked.
// holds: N3 (queue's table locked), others-deaf, others-sessions
func TestHealthGoesByTheFetch(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.Exec("alter table core.nodes alter heartbeat_every set default '1 s'")
	reg := prometheus.NewRegistry()
	n := node.New(db.Pool, node.Config{Namespace: ns, Registerer: reg})
	n.On("x", func(context.Context, pgx.Tx, *nexus.Delivery) error { return nil })
	if err := n.Ready(); !errors.Is(err, node.ErrNotRunning) {
		t.Errorf("Ready before Run: %v", err)
	}
	start(t, n)
	eventually(t, "ready", time.Minute, func() bool { return n.Ready() == nil && n.Health() == nil })

	tx, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), "lock table pgmq.q_core_events_shop in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	if took := eventually(t, "not ready", 20*time.Second, func() bool { return n.Ready() != nil }); took < 5*time.Second {
		t.Errorf("not ready after %s already", took)
	}
	// What waits is left, and not asked again and again over more and more sessions.
	most := int(db.Pool.Config().MaxConns) + 10
	if n := dbtest.Get[int](db, `select count(*)::int from pg_stat_activity where usename = $1 and datname = current_database()`, dbtest.Login); n > most {
		t.Errorf("%d sessions while the queue is locked", n)
	}
	if err := n.Health(); err != nil {
		t.Errorf("Health forgives more than Ready, and says %v", err)
	}
	if got := scrape(t, reg); got["node_ready shop"] != 0 || got["fetch_age_seconds shop"] < 9 || got["heartbeat_age_seconds shop"] > 9 {
		t.Errorf("ready %v, fetch age %v, heartbeat age %v", got["node_ready shop"], got["fetch_age_seconds shop"], got["heartbeat_age_seconds shop"])
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ready again", time.Minute, func() bool { return n.Ready() == nil })
}

// A network that swallows everything: nothing fails, nothing answers.
// holds: N3 (a proxy that swallows everything), others-deaf
func TestHealthOfAStalledConnection(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for half a minute, in which a node counts as healthy")
	}
	t.Parallel()
	db := newDB(t)
	proxy := db.Proxy()
	pool, err := pgxpool.New(t.Context(), proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	reg := prometheus.NewRegistry()
	n := node.New(pool, node.Config{Namespace: ns, Registerer: reg})
	handled := make(chan struct{}, 1)
	n.On("x", func(context.Context, pgx.Tx, *nexus.Delivery) error {
		handled <- struct{}{}
		return nil
	})
	start(t, n)
	eventually(t, "ready", time.Minute, func() bool { return n.Ready() == nil })
	scrape(t, reg)

	proxy.Stall(true)
	began := time.Now()
	eventually(t, "not ready", 20*time.Second, func() bool { return n.Ready() != nil })
	took := eventually(t, "scraped", 10*time.Second, func() bool { return scrape(t, reg)["node_ready shop"] == 0 })
	if took > 5*time.Second {
		t.Errorf("a scrape waits %s for a database that does not answer", took)
	}
	eventually(t, "not healthy", 40*time.Second, func() bool { return n.Health() != nil })
	if since := time.Since(began); since > 40*time.Second {
		t.Errorf("healthy for %s", since)
	}
	proxy.Stall(false)
	eventually(t, "healthy again", time.Minute, func() bool { return n.Ready() == nil && n.Health() == nil })
	emit(t, db, "x", nil)
	<-handled
}

func TestARegistryWithOtherMetricsOfTheseNames(t *testing.T) {
	reg := prometheus.NewRegistry()
	reg.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: telemetry.FetchAge.Name}))
	n := node.New(newDB(t).Pool, node.Config{Namespace: ns, Registerer: reg})
	_, err := n.Work(t.Context(), 1)
	if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Field != "Config.Registerer" {
		t.Error(fmt.Sprint(err))
	}
}

// A node whose handlers all ignore the end of their context takes nothing, whatever its heartbeats and claims say.
// holds: workers-stuck, others-stuck (the metric)
func TestHealthOfStuckWorkers(t *testing.T) {
	t.Parallel()
	for name, mode := range everyMode(nil) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			reg := prometheus.NewRegistry()
			cfg := node.Config{Namespace: ns, Workers: 2, Registerer: reg, Retry: quick}
			if strings.Contains(strings.ToLower(name), "express") || name == "OnBatch" {
				cfg.Express = 50 * time.Millisecond
			}
			if name == "OnLeased" {
				cfg.Workers, cfg.LeasedWorkers = 0, 2
				mode = func(n *node.Node, pattern string, fn func(context.Context, pgx.Tx, *nexus.Delivery) error) *node.Handler {
					return n.OnLeased(pattern, func(ctx context.Context, d *nexus.Delivery) error { return fn(ctx, nil, d) })
				}
			}
			n := node.New(db.Pool, cfg)
			release := make(chan struct{})
			h := mode(n, "*", func(context.Context, pgx.Tx, *nexus.Delivery) error {
				<-release
				return nil
			})
			h.Timeout = 50 * time.Millisecond
			start(t, n)
			eventually(t, "ready", time.Minute, func() bool { return n.Ready() == nil })
			emitMany(t, db, 1)
			eventually(t, "one is stuck", time.Minute, func() bool { return scrape(t, reg)["handlers_stuck shop"] >= 1 })
			emitMany(t, db, 3)
			eventually(t, "not ready", time.Minute, func() bool { return errors.Is(n.Ready(), node.ErrStuck) })
			if err := n.Health(); err != nil {
				t.Errorf("Health forgives more than Ready, and says %v", err)
			}
			if got := scrape(t, reg); got["handlers_stuck shop"] != 2 || got["node_ready shop"] != 0 {
				t.Errorf("stuck %v, ready %v", got["handlers_stuck shop"], got["node_ready shop"])
			}
			if name == "On" && !testing.Short() {
				if took := eventually(t, "not healthy", 90*time.Second, func() bool { return errors.Is(n.Health(), node.ErrStuck) }); took < 50*time.Second {
					t.Errorf("not healthy after %s already", took)
				}
			}
			close(release)
			eventually(t, "ready again", time.Minute, func() bool { return n.Ready() == nil && n.Health() == nil })
			db.Wait(queueEmpty)
		})
	}
}

// What a handler acknowledges in a transaction of its own is delivered, once that has committed.
// holds: metrics-counts
func TestAcksOfHandlersAreCounted(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	reg := prometheus.NewRegistry()
	n := node.New(db.Pool, node.Config{Namespace: ns, Registerer: reg, Retry: quick})
	n.OnLeased("x", func(ctx context.Context, d *nexus.Delivery) error {
		tx, err := db.Pool.Begin(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback(ctx) }()
		if err := queue.Ack(ctx, tx, d); err != nil {
			return err
		}
		if string(d.Payload) == "1" && d.Attempt == 1 {
			return errors.New("rolled back, so it is tried again")
		}
		if err := tx.Commit(ctx); err != nil || string(d.Payload) != "2" {
			return err
		}
		return errors.New("too late: it is done")
	})
	start(t, n)
	emitMany(t, db, 5) // their payloads count from 0
	db.Wait(queueEmpty)
	var got map[string]float64
	eventually(t, "the counts", time.Minute, func() bool {
		got = scrape(t, reg)
		return got["events_delivered_total default x shop"] >= 5
	})
	if d, r := got["events_delivered_total default x shop"], got["events_retried_total default x shop"]; d != 5 || r != 1 {
		t.Errorf("%v delivered and %v retried, want 5 and 1", d, r)
	}
}

// A rate over a series that begins with its first event does not see it.
// holds: metrics-counts
func TestCountsBeginAtZero(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	const ns = "count-from-zero" // emits are counted by process
	db.Exec(`select core.create_namespace($1)`, ns)
	reg := prometheus.NewRegistry()
	n := node.New(db.Pool, node.Config{Namespace: ns, Registerer: reg})
	n.On("order.*", func(context.Context, pgx.Tx, *nexus.Delivery) error { return nil })
	n.OnLeased("mail", func(context.Context, *nexus.Delivery) error { return nil })
	n.OnBatch("view", func(context.Context, pgx.Tx, []*nexus.Delivery) error { return nil })
	start(t, n)
	eventually(t, "ready", time.Minute, func() bool { return n.Ready() == nil })
	got := scrape(t, reg)
	want := []string{"events_emitted_total " + ns}
	for _, c := range []string{"delivered", "retried", "dead_lettered", "released"} {
		for _, p := range []string{"order.*", "mail", "view", telemetry.OtherType} {
			want = append(want, fmt.Sprintf("events_%s_total default %s %s", c, p, ns))
		}
	}
	for _, key := range append(want, "leases_lost_total default mail "+ns) {
		if v, there := got[key]; !there || v != 0 {
			t.Errorf("%s is %v (there: %v)", key, v, there)
		}
	}
}
