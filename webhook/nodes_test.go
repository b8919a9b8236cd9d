package webhook_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/webhook"
	"github.com/nexuspg/nexus/webhook/signature"
)

// process is a node that can be killed.
func process(t *testing.T, db *dbtest.DB) (kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envChildURL+"="+db.URL)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Cleanup(kill)
	return kill
}

// account is what a receiver saw of one event.
type account struct {
	kind  string
	posts int
	busy  time.Time // when it was told to come again
	early []time.Duration
}

// accounts answers by the type of an event, and keeps what came.
type accounts struct {
	*httptest.Server
	secret string // known before the first event
	mu     sync.Mutex
	of     map[string]*account // by webhook and webhook-id
	wrong  []string
}

func keep(t *testing.T) *accounts {
	t.Helper()
	a := &accounts{of: map[string]*account{}}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var e struct{ ID, Type string }
		_ = json.Unmarshal(body, &e)
		status := http.StatusNoContent
		a.mu.Lock()
		if key, err := signature.ParseKey(a.secret); err != nil || signature.Verify(r.Header, body, time.Now(), key) != nil || r.Header.Get("webhook-id") != e.ID {
			a.wrong = append(a.wrong, fmt.Sprintf("%s: %v", e.ID, r.Header))
		}
		id := r.URL.Path + " " + r.Header.Get("webhook-id")
		c := a.of[id]
		if c == nil {
			c = &account{kind: e.Type}
			a.of[id] = c
		}
		c.posts++
		switch {
		case e.Type == "a.busy" && c.posts == 1:
			status = http.StatusServiceUnavailable
			w.Header().Set("Retry-After", "1")
			c.busy = time.Now()
		case e.Type == "a.busy":
			if waited := time.Since(c.busy); waited < 900*time.Millisecond {
				c.early = append(c.early, waited)
			}
		case e.Type == "a.bad":
			status = http.StatusUnprocessableEntity
		}
		a.mu.Unlock()
		if e.Type == "a.slow" { // so that kills find some under way
			select {
			case <-time.After(100 * time.Millisecond):
			case <-r.Context().Done():
			}
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *accounts) seen() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.of)
}

func emitAll(t *testing.T, db *dbtest.DB, batch []queue.Emission) {
	t.Helper()
	for part := range slices.Chunk(batch, 1000) {
		if _, err := (queue.Emitter{Namespace: "shop"}).EmitBatch(t.Context(), db.Owner, part); err != nil {
			t.Fatal(err)
		}
	}
}

const nothingLeft = `select not exists (select from core.queue_metrics m join core.queues q using (queue_name) where q.consumer_id is not null and m.queue_length + m.delayed + m.parked > 0)`

// Three node processes with the webhooks of a restricted namespace, one of them with levels, are killed with -9 one after the other: each event comes, under one
// id, signed, and as often as it must; what is refused is a dead letter once; what is to come later comes no sooner, whichever node has it; nothing is left.
//
// holds: H5, D6
func TestKilledNodesSendAll(t *testing.T) {
	t.Parallel()
	events, kills := 200, 3
	if os.Getenv("NEXUS_TEST_LONG") != "" {
		events, kills = 5_000, 20
	}
	db := dbtest.New(t)
	db.Exec(`select core.create_namespace('shop', '{"restricted": true, "default_consumer": "off"}')`)
	db.Exec(`select core.grant_namespace('shop', $1, 'consume')`, dbtest.Login)
	a := keep(t)
	key := `"secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
	a.secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	create(db, "plain", a.URL+"/plain", []string{"a.*"}, `{`+key+`}`)
	create(db, "levels", a.URL+"/levels", []string{"a.*"}, `{"levels": 3, `+key+`}`)
	batch := make([]queue.Emission, events)
	for i := range batch {
		batch[i] = queue.Emission{Type: []string{"a.ok", "a.slow", "a.busy", "a.bad"}[rand.Intn(4)], EmitOptions: queue.EmitOptions{Priority: 1 + rand.Intn(4)}}
	}
	var nodes []func()
	for range 3 {
		nodes = append(nodes, process(t, db))
	}
	emitAll(t, db, batch[:events/2])
	for i := range kills {
		want := events * (i + 1) / (kills + 1)
		eventually(t, func() bool { return a.seen() >= want })
		nodes[i%3]()
		nodes[i%3] = process(t, db)
		if i == 0 {
			emitAll(t, db, batch[events/2:])
		}
	}
	eventually(t, func() bool { return a.seen() == 2*events })
	for left := 2 * events; left >= 0; left -= max(events/10, 1) {
		db.Wait(`select count(*) <= $1 from (select from pgmq.q_core_events_shop__plain union all select from pgmq.q_core_events_shop__levels) q`, left)
	}
	db.Wait(nothingLeft)
	for _, kill := range nodes {
		kill()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	bad, more := 0, 0
	for id, c := range a.of {
		if len(c.early) > 0 {
			t.Errorf("%s came again after %v", id, c.early)
		}
		switch {
		case c.kind == "a.bad":
			bad++
		case c.kind == "a.busy" && c.posts < 2:
			t.Errorf("%s was not tried again", id)
		}
		more += c.posts - 1
	}
	t.Logf("%d events for two webhooks, %d kills, %d POSTs more than events", events, kills, more)
	if len(a.wrong) > 0 {
		t.Errorf("not as signed: %s", strings.Join(a.wrong, "\n"))
	}
	if got := dbtest.Get[string](db, `select format('%s of %s, %s', count(*), count(distinct (consumer, event_uid)), string_agg(distinct event_type || ' ' || reason, ', ')) from core.dead_letters`); got != fmt.Sprintf("%d of %d, a.bad webhook: status 422", bad, bad) {
		t.Errorf("dead letters: %s, want %d", got, bad)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.event_log l, unnest(array['plain', 'levels']) w where not exists (
			select from unnest($1::text[]) s where s = '/' || w || ' ' || l.event_uid)`, keys(a.of)); n != 0 {
		t.Errorf("%d of the log never came", n)
	}
}

func keys(m map[string]*account) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	return all
}

func eventually(t *testing.T, f func() bool) {
	t.Helper()
	deadline := time.After(5 * time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !f() {
		select {
		case <-deadline:
			t.Fatal("not within five minutes")
		case <-tick.C:
		}
	}
}

// A receiver that is gone is so for all nodes: what it refused is dead, what it was not asked for waits, and goes to where it moved, each event once.
//
// holds: H5
func TestGoneForAllNodes(t *testing.T) {
	t.Parallel()
	const events = 100
	db := newDB(t)
	db.Exec(`select core.alter_namespace('shop', '{"default_consumer": "off"}')`)
	gone, good := receive(t, func(w http.ResponseWriter, _ int) { w.WriteHeader(http.StatusGone) }), receive(t, ok)
	create(db, "billing", gone.URL, []string{"*"}, `{}`)
	for range 3 {
		run(t, db, &webhook.Sender{Allow: local})
	}
	batch := make([]queue.Emission, events)
	for i := range batch {
		batch[i] = queue.Emission{Type: "a"}
	}
	emitAll(t, db, batch)
	db.Wait(`select state = 'paused' from core.webhook_status`)
	dead := func() int {
		return dbtest.Get[int](db, `select count(*)::int from core.dead_letters where reason = 'webhook: status 410'`)
	}
	var refused int
	eventually(t, func() bool { // what was under way has come back
		refused = dead()
		return refused == len(gone.all()) && !dbtest.Get[bool](db, `select exists (select from pgmq.q_core_events_shop__billing where vt > core.now())`)
	})
	if refused == events {
		t.Error("all are refused")
	}
	db.Exec(`select core.alter_webhook('shop', 'billing', $1)`, good.URL)
	db.Exec(`select core.resume_consumer('shop', 'billing')`)
	db.Wait(nothingLeft)
	// A node that had not heard of the move asks where it was, hears so, and looks where it is.
	if n := dead(); n != refused || len(good.all()) != events-refused {
		t.Errorf("%d refused, then %d dead and %d at the new place", refused, n, len(good.all()))
	}
}

// A webhook whose consumer has levels posts what comes first first, whenever it was emitted.
//
// holds: H5, levels
func TestLevels(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	r := receive(t, ok)
	create(db, "billing", r.URL, []string{"*"}, `{"levels": 2, "concurrency": 1}`)
	db.Exec(`select core.pause_consumer('shop', 'billing')`)
	batch := make([]queue.Emission, 8)
	for i := range batch {
		batch[i] = queue.Emission{Type: []string{"a.second", "a.first"}[i/5], EmitOptions: queue.EmitOptions{Priority: 2 - i/5}}
	}
	emitAll(t, db, batch)
	runWith(t, db, &webhook.Sender{Allow: local}, 1) // which claims one at a time
	db.Exec(`select core.resume_consumer('shop', 'billing')`)
	r.wait(t, len(batch))
	var kinds []string
	for _, p := range r.all() {
		kinds = append(kinds, strings.TrimPrefix(p.kind, "a."))
	}
	if got := strings.Join(kinds, " "); got != "first first first second second second second second" {
		t.Error(got)
	}
}
