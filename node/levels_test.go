package node_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// emitWith emits n events a.b of that priority, with payloads that count from 0.
func emitWith(t *testing.T, db *dbtest.DB, priority, n int) {
	t.Helper()
	batch := make([]queue.Emission, n)
	for i := range batch {
		batch[i] = queue.Emission{Type: "a.b", Payload: i, EmitOptions: queue.EmitOptions{Priority: priority}}
	}
	if _, err := (queue.Emitter{Namespace: ns}).EmitBatch(t.Context(), db.Pool, batch); err != nil {
		t.Fatal(err)
	}
}

// order notes priorities as they come.
type order struct {
	mu  sync.Mutex
	got []int
}

func (o *order) add(d *nexus.Delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.got = append(o.got, max(d.Priority, 1))
}

func (o *order) list() []int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]int(nil), o.got...)
}

// One worker of each mode takes what comes first first, whenever it was emitted; a consumer without levels goes by order.
// holds: levels
func TestWhatHasPriorityGoesFirst(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Workers: 5, LeasedWorkers: 1})
	var on, express, batch, leased, plain order
	consumer := func(name string, levels int) *node.Consumer {
		c := n.Subscribe(name, "a.b")
		c.Levels = levels
		return c
	}
	consumer("on", 3).On("a.b", func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error { on.add(d); return nil }).Workers = 1
	h := consumer("express", 3).On("a.b", func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error { express.add(d); return nil })
	h.Express, h.Workers = true, 1
	h = consumer("batch", 3).OnBatch("a.b", func(_ context.Context, _ pgx.Tx, all []*nexus.Delivery) error {
		for _, d := range all {
			batch.add(d)
		}
		return nil
	})
	h.Batch, h.Workers = 4, 1
	consumer("leased", 3).OnLeased("a.b", func(ctx context.Context, d *nexus.Delivery) error {
		leased.add(d)
		// Work of so long leaves nothing to be claimed ahead: of two claims under way at once, the later level's may be back first.
		work, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		<-work.Done()
		return ctx.Err()
	})
	h = consumer("plain", 0).OnBatch("a.b", func(_ context.Context, _ pgx.Tx, all []*nexus.Delivery) error {
		for _, d := range all {
			plain.add(d)
		}
		return nil
	})
	h.Workers = 1
	for _, name := range []string{"on", "express", "batch", "leased", "plain"} {
		levels := 3
		if name == "plain" {
			levels = 0
		}
		if err := queue.CreateConsumer(t.Context(), db.Pool, ns, name, []string{"a.b"}, &queue.ConsumerOptions{Levels: levels}); err != nil {
			t.Fatal(err)
		}
	}
	for _, priority := range []int{4, 3, 2, 1} { // 4 is of the last level, too
		emitWith(t, db, priority, 2)
	}
	stop := start(t, n)
	all := map[string]*order{"on": &on, "express": &express, "batch": &batch, "leased": &leased, "plain": &plain}
	for name, o := range all {
		eventually(t, name, time.Minute, func() bool { return len(o.list()) == 8 })
		want := "[1 1 2 2 4 4 3 3]"
		if name == "plain" {
			want = "[4 4 3 3 2 2 1 1]"
		}
		if got := fmt.Sprint(o.list()); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	// What is emitted while it runs is found at once in each level.
	for i, priority := range []int{3, 2, 1} {
		emitWith(t, db, priority, 1)
		for name, o := range all {
			eventually(t, name, 10*time.Second, func() bool { return len(o.list()) == 9+i })
			if got := o.list()[8+i]; got != priority {
				t.Errorf("%s: %d came, want %d", name, got, priority)
			}
		}
	}
	stop()
}

// While more comes of the first level than a node can handle, and levels are added and taken away, the lower one keeps its share; each event is
// handled once, also those that fail at first, and a retry comes in spite of the flood.
// holds: levels
func TestAFloodLeavesTheLowerLevelItsShare(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	for _, mode := range []string{"express", "leased"} {
		if err := queue.CreateConsumer(t.Context(), db.Pool, ns, mode, []string{"a.b"}, &queue.ConsumerOptions{Levels: 2}); err != nil {
			t.Fatal(err)
		}
	}
	const flood, low = 3000, 300
	emitWith(t, db, 2, low)
	emitWith(t, db, 1, flood)
	n := node.New(db.Pool, node.Config{Namespace: ns, Workers: 2, LeasedWorkers: 2})
	type handled struct {
		order
		seen   sync.Map
		failed atomic.Int32
	}
	handle := func(h *handled, d *nexus.Delivery) error {
		if d.Priority == 2 && string(d.Payload) == "0" && d.Attempt == 1 {
			h.failed.Add(1)
			return nexus.Retry(time.Second)
		}
		if _, twice := h.seen.LoadOrStore(d.UID, true); twice {
			t.Errorf("%s has event %s of priority %d twice", d.Consumer, d.Payload, d.Priority)
		}
		h.add(d)
		return nil
	}
	var express, leased handled
	h := n.Subscribe("express", "a.b").On("a.b", func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error { return handle(&express, d) })
	h.Express = true
	n.Subscribe("leased", "a.b").OnLeased("a.b", func(_ context.Context, d *nexus.Delivery) error { return handle(&leased, d) })
	stop := start(t, n)
	for i := range 3 {
		emitWith(t, db, 1, 300)
		for _, mode := range []string{"express", "leased"} {
			if _, err := queue.AlterConsumer(t.Context(), db.Owner, ns, mode, queue.ConsumerChange{Levels: []int{4, 2, 3}[i]}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for mode, h := range map[string]*handled{"express": &express, "leased": &leased} {
		eventually(t, mode, time.Minute, func() bool { return len(h.list()) == flood+900+low })
		if h.failed.Load() != 1 {
			t.Errorf("%s: %d failed, want 1", mode, h.failed.Load())
		}
		// Of what was handled while the flood lasted, one in nine is of the lower level; claims may take many at once.
		lower := 0
		for i, priority := range h.list() {
			if priority == 2 {
				lower++
			}
			if i+1 == 1800 && lower < 1800/9/4 {
				t.Errorf("%s: %d of the first 1800 are of the lower level", mode, lower)
			}
		}
		if lower != low {
			t.Errorf("%s: %d of the lower level, want %d", mode, lower, low)
		}
	}
	stop()
	if left := dbtest.Get[int](db, `select coalesce(sum(queue_length), 0)::int from core.queue_metrics where queue_name ~ '__'`); left != 0 {
		t.Errorf("%d are left", left)
	}
}

// Consumers with handlers of each mode go from four levels to fewer and to one, and back, while a node runs and events of all priorities come, fail and
// are tried again: by the handlers' own table what lies in a level that is gone is handled once, and with one level the order is that of the emits.
// holds: levels (altered)
func TestFewerLevelsUnderTraffic(t *testing.T) {
	t.Parallel()
	batches, size := 5, 20
	if os.Getenv("NEXUS_TEST_LONG") != "" {
		batches, size = 40, 60
	}
	db := newDB(t)
	db.Exec(`create table public.did (n bigint generated always as identity, consumer text, uid uuid, priority int)`)
	db.Exec(`grant insert on public.did to ` + dbtest.Login)
	modes := []string{"On", "express", "batch", "leased"}
	alter := func(levels int) {
		for _, mode := range modes {
			if _, err := queue.AlterConsumer(t.Context(), db.Owner, ns, strings.ToLower(mode), queue.ConsumerChange{Levels: levels}); err != nil {
				t.Error(err)
			}
		}
	}
	n := node.New(db.Pool, node.Config{Namespace: ns, Workers: 4, LeasedWorkers: 1})
	one := func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		if string(d.Payload) == "7" && d.Attempt == 1 {
			return nexus.Retry(50 * time.Millisecond)
		}
		_, err := tx.Exec(ctx, `insert into public.did (consumer, uid, priority) values ($1, $2, $3)`, d.Consumer, d.UID, max(d.Priority, 1))
		return err
	}
	for _, mode := range modes {
		if err := queue.CreateConsumer(t.Context(), db.Pool, ns, strings.ToLower(mode), []string{"a.b"}, &queue.ConsumerOptions{Levels: 4}); err != nil {
			t.Fatal(err)
		}
		if h := handleIn(db.Pool, n.Subscribe(strings.ToLower(mode), "a.b"), mode, one); mode != "leased" {
			h.Workers = 1
		}
	}
	for priority := 4; priority >= 1; priority-- {
		emitWith(t, db, priority, size)
	}
	start(t, n)
	for i := range batches {
		emitWith(t, db, 1+i%4, size)
		alter([]int{2, 1, 3, 4}[i%4])
		emitWith(t, db, 4-i%4, size)
		goesOn(db, fmt.Sprintf(`(select count(*) >= %d from public.did)`, 4*size*i))
	}
	alter(1)
	want := (4 + 2*batches) * size
	goesOn(db, fmt.Sprintf(`(select count(*) >= %d from public.did)`, 4*want))
	for _, priority := range []int{4, 2, 3, 1, 4} {
		emitWith(t, db, priority, 2)
	}
	db.Wait(`select coalesce(sum(queue_length), 0) = 0 from core.queue_metrics where queue_name ~ '__'`)
	for _, mode := range modes {
		if got := dbtest.Get[string](db, `select format('%s of %s', count(*), count(distinct uid)) from public.did where consumer = $1`, strings.ToLower(mode)); got != fmt.Sprintf("%d of %d", want+10, want+10) {
			t.Errorf("%s: %s, want %d", mode, got, want+10)
		}
		if got := dbtest.Get[string](db, `select string_agg(priority::text, ' ' order by n) from (select * from public.did where consumer = $1 order by n desc limit 10) s`, strings.ToLower(mode)); got != "4 4 2 2 3 3 1 1 4 4" {
			t.Errorf("%s: with one level %s come", mode, got)
		}
	}
}
