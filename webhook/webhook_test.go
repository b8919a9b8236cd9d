package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/webhook"
	"github.com/nexuspg/nexus/webhook/signature"
)

var local = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// log is what a node writes.
type log struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

func (l *log) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.String()
}

// run runs a node with a sender until the test ends.
func run(t *testing.T, db *dbtest.DB, s *webhook.Sender) *log {
	t.Helper()
	return runWith(t, db, s, 0)
}

func runWith(t *testing.T, db *dbtest.DB, s *webhook.Sender, places int) *log {
	t.Helper()
	var out log
	if s.Look == 0 {
		s.Look = 20 * time.Millisecond
	}
	n := node.New(db.Pool, node.Config{Namespace: "shop", Poll: 20 * time.Millisecond, LeasedWorkers: places, Logger: slog.New(slog.NewTextHandler(&out, nil))})
	n.Add(s)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return &out
}

// got is one POST.
type got struct {
	header http.Header
	body   []byte
	id     string
	kind   string
	valid  bool // signed by the secret that the receiver knows
}

// receiver answers POSTs by answer, which gets their number, from 1.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	secret string
	posts  []got
}

func receive(t *testing.T, answer func(w http.ResponseWriter, n int)) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		var e struct{ ID, Type string }
		_ = json.Unmarshal(body, &e)
		r.mu.Lock()
		key, err := signature.ParseKey(r.secret)
		r.posts = append(r.posts, got{req.Header, body, e.ID, e.Type, err == nil && signature.Verify(req.Header, body, time.Now(), key) == nil})
		n := len(r.posts)
		r.mu.Unlock()
		answer(w, n)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) knows(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = secret
}

func (r *receiver) all() []got {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.posts)
}

// wait waits for the n-th POST.
func (r *receiver) wait(t *testing.T, n int) got {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if all := r.all(); len(all) >= n {
			return all[n-1]
		}
		select {
		case <-deadline:
			t.Fatalf("only %d POSTs, not %d", len(r.all()), n)
		case <-tick.C:
		}
	}
}

func ok(w http.ResponseWriter, _ int) { w.WriteHeader(http.StatusNoContent) }

func emit(t *testing.T, db *dbtest.DB, eventType, payload string) queue.Receipt {
	t.Helper()
	r, err := queue.Emitter{Namespace: "shop"}.Emit(t.Context(), db.Pool, eventType, json.RawMessage(payload), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func create(db *dbtest.DB, name, url string, patterns []string, options string) (secret string) {
	return dbtest.Get[string](db, `select core.create_webhook('shop', $1, $2, $3, $4::jsonb || '{"insecure": true}')`, name, url, patterns, options)
}

func newDB(t *testing.T) *dbtest.DB {
	t.Helper()
	db := dbtest.New(t)
	db.Namespace("shop")
	return db
}

// A receiver that answers 503 gets the event again when it said, signed anew under the same id, and no other.
//
// holds: H5
func TestDelivery(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	logged := run(t, db, &webhook.Sender{Allow: local})
	r := receive(t, func(w http.ResponseWriter, n int) {
		if n == 1 {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		ok(w, n)
	})
	secret := create(db, "billing", r.URL+"/in", []string{"order.*"}, `{}`)
	r.knows(secret)
	emit(t, db, "user.created", `{}`)
	e := emit(t, db, "order.placed", `{"id": 12345678901234567890}`)
	first := r.wait(t, 1)
	db.Wait(`select count(*) = 1 from core.delivery_errors where consumer = 'billing' and error = 'status 503'`)
	due := dbtest.Get[float64](db, `select extract(epoch from vt - core.now())::float8 from pgmq.q_core_events_shop__billing`)
	if due < 3500 || due > 3600 {
		t.Errorf("it is due in %.0f s", due)
	}
	db.Advance(time.Hour)
	second := r.wait(t, 2)
	db.Wait(`select count(*) = 0 from pgmq.q_core_events_shop__billing`)
	for i, p := range []got{first, second} {
		if p.kind != "order.placed" || p.id != e.EventUID.String() || p.header.Get("webhook-id") != p.id || !p.valid ||
			p.header.Get("Content-Type") != "application/cloudevents+json" || !bytes.Contains(p.body, []byte("12345678901234567890")) {
			t.Errorf("POST %d: %v %s, signed %v", i+1, p.header, p.body, p.valid)
		}
	}
	if n := len(r.all()); n != 2 {
		t.Errorf("%d POSTs", n)
	}
	shown := logged.text() + dbtest.Get[string](db, `select coalesce((select jsonb_agg(a) from core.audit_log a)::text, '') || coalesce((select jsonb_agg(d) from core.delivery_errors d)::text, '')
		|| (select jsonb_agg(w) from core.webhook_status w)::text`)
	if strings.Contains(shown, secret[6:]) {
		t.Error("the secret is shown")
	}
}

// A handler gets the deliveries that name it, of each routed consumer, under the type of the event. It is not paused, since what names others is on the same queue.
//
// holds: H5, T0
func TestHandler(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	r := receive(t, func(w http.ResponseWriter, n int) {
		if n == 1 {
			w.WriteHeader(http.StatusGone)
			return
		}
		ok(w, n)
	})
	r.knows(dbtest.Get[string](db, `select secret from core.create_handler('shop', 'webhook:crm', jsonb_build_object('url', $1::text, 'insecure', true))`, r.URL+"/in"))
	db.Exec(`select core_node.require_routed('shop', 'triggers'), core_node.require_routed('shop', 'slow')`)
	run(t, db, &webhook.Sender{Allow: local, Look: 20 * time.Millisecond})
	for _, consumer := range []string{"triggers", "slow"} {
		db.Exec(`select core_private.deliver_routed((select queue_name from core.consumers where name = $1), k,
			jsonb_build_object('namespace', 'shop', 'eventType', 'order.made', 'payload', 1, 'eventId', 7, 'eventUid', gen_random_uuid()), null, null, core.now()) from unnest(array['webhook:crm', 'go:other']) k`, consumer)
	}
	first, second := r.wait(t, 1), r.wait(t, 2)
	if !first.valid || !second.valid || first.kind != "order.made" || second.kind != "order.made" {
		t.Errorf("POSTs: %s %v, %s %v", first.kind, first.valid, second.kind, second.valid)
	}
	db.Wait(`select count(*) = 1 from core.dead_letters where event_type = 'order.made'`)
	// What names another handler stays, on the queue or out of the way, where the node puts what nobody handles.
	db.Wait(`select count(*) = 2 and bool_and(message ->> 'eventType' = 'go:other')
		from (select message from pgmq.q_core_events_shop__triggers union all select message from pgmq.q_core_events_shop__slow union all select message from core.parked) q`)
	if state := dbtest.Get[string](db, `select string_agg(distinct state, ' ') from core.consumers`); state != "active" {
		t.Errorf("consumers are %s", state)
	}
}

// What is changed while a node runs holds within a moment: another URL, another secret beside the old one, a drop.
//
// holds: H5
func TestChangesWhileANodeRuns(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	run(t, db, &webhook.Sender{Allow: local})
	one, two := receive(t, ok), receive(t, ok)
	old := create(db, "billing", one.URL, []string{"*"}, `{}`)
	one.knows(old)
	two.knows(old)
	emit(t, db, "a", `{}`)
	if !one.wait(t, 1).valid {
		t.Error("not signed")
	}
	young := dbtest.Get[string](db, `select core.rotate_webhook_secret('shop', 'billing')`)
	db.Exec(`select core.alter_webhook('shop', 'billing', $1)`, two.URL)
	// Until the node knows, events go where they went.
	for n := 0; len(two.all()) == 0; n++ {
		emit(t, db, "b", `{}`)
		db.Wait(`select count(*) = 0 from pgmq.q_core_events_shop__billing`)
	}
	first := two.wait(t, 1)
	key, err := signature.ParseKey(young)
	if err != nil {
		t.Fatal(err)
	}
	if !first.valid || signature.Verify(first.header, first.body, time.Now(), key) != nil || len(strings.Fields(first.header.Get("webhook-signature"))) != 2 {
		t.Errorf("signed %q", first.header.Get("webhook-signature"))
	}
	db.Advance(25 * time.Hour)
	two.knows(young)
	for single := false; !single; {
		n := len(two.all())
		emit(t, db, "c", `{}`)
		p := two.wait(t, n+1)
		if !p.valid {
			t.Fatal("not signed by the new secret")
		}
		single = len(strings.Fields(p.header.Get("webhook-signature"))) == 1
	}
	db.Wait(`select count(*) = 0 from pgmq.q_core_events_shop__billing`)
	db.Exec(`select core.drop_webhook('shop', 'billing')`)
	db.Wait(`select not exists (select from core_private.node_capabilities where key = '*' and consumer = 'billing')`)
	if n := dbtest.Get[int](db, `select count(*)::int from core_private.webhook_secrets`); n != 0 {
		t.Errorf("%d secrets are left", n)
	}
}

// A receiver that is gone is paused at once, one that has failed for as long as its webhook says then; events wait until somebody resumes it.
//
// holds: H5
func TestPaused(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	logged := run(t, db, &webhook.Sender{Allow: local})
	status := func(s int) func(http.ResponseWriter, int) {
		return func(w http.ResponseWriter, _ int) { w.WriteHeader(s) }
	}
	gone, down, good := receive(t, status(410)), receive(t, status(500)), receive(t, ok)
	create(db, "gone", gone.URL, []string{"gone"}, `{}`)
	create(db, "down", down.URL, []string{"down"}, `{"pause_after": "1 hour", "retry": {"base": "1 min", "max": "1 min", "jitter": 0, "max_attempts": -1}}`)
	emit(t, db, "gone", `{}`)
	db.Wait(`select state = 'paused' and paused_reason like '%410%' and last_error = 'status 410' from core.webhook_status where name = 'gone'`)
	db.Wait(`select count(*) = 1 from core.dead_letters where consumer = 'gone' and reason = 'webhook: status 410'`)

	emit(t, db, "down", `{}`)
	down.wait(t, 1)
	db.Wait(`select state = 'active' and failing_since is not null from core.webhook_status where name = 'down'`)
	db.Wait(`select count(*) = 1 from pgmq.q_core_events_shop__down where vt > core.now() + interval '30 s'`)
	// Failures are noted once a second, by the clock of the node: the note of one may come when the next is due, and pause it.
	const paused = `(select state = 'paused' from core.webhook_status where name = 'down')`
	for failures := 1; !dbtest.Get[bool](db, `select `+paused); failures++ {
		db.Wait(`select `+paused+` or (select count(*) >= $1 from core.delivery_errors where consumer = 'down')`, failures)
		db.Advance(2 * time.Hour)
	}
	if why := dbtest.Get[string](db, `select paused_reason from core.webhook_status where name = 'down'`); !strings.Contains(why, "01:00:00") {
		t.Error(why)
	}
	if !strings.Contains(logged.text(), "a webhook is paused") {
		t.Error("the log does not say so")
	}
	n := len(down.all())
	db.Advance(time.Hour)
	emit(t, db, "down", `{}`)
	emit(t, db, "gone", `{}`)
	emit(t, db, "other", `{}`)
	create(db, "other", good.URL, []string{"other"}, `{}`)
	emit(t, db, "other", `{}`)
	good.wait(t, 1)
	if got := len(down.all()); got != n || len(gone.all()) != 1 {
		t.Errorf("%d and %d POSTs while paused", got-n, len(gone.all())-1)
	}

	db.Exec(`select core.alter_webhook('shop', 'gone', $1)`, good.URL)
	db.Exec(`select core.resume_consumer('shop', 'gone')`)
	good.wait(t, 2)
	db.Wait(`select state = 'active' and failing_since is null and paused_at is null from core.webhook_status where name = 'gone'`)
}

// The receiver has moved, and the node looks for what changed in an hour.
//
// holds: H5
func TestMovedBehindTheNodesBack(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	old, moved := receive(t, func(w http.ResponseWriter, n int) {
		if n == 1 {
			w.WriteHeader(http.StatusNoContent)
		} else {
			w.WriteHeader(http.StatusGone)
		}
	}), receive(t, ok)
	create(db, "billing", old.URL, []string{"*"}, `{}`)
	run(t, db, &webhook.Sender{Allow: local, Look: time.Hour})
	emit(t, db, "a", `{}`)
	old.wait(t, 1)
	db.Exec(`select core.alter_webhook('shop', 'billing', $1)`, moved.URL)
	emit(t, db, "b", `{}`)
	moved.wait(t, 1)
	emit(t, db, "c", `{}`)
	moved.wait(t, 2)
	if n := len(old.all()); n != 2 {
		t.Errorf("%d POSTs to where it was", n)
	}
	db.Wait(`select count(*) = 0 from pgmq.q_core_events_shop__billing`)
	if !dbtest.Get[bool](db, `select state = 'active' and paused_at is null and not exists (select from core.dead_letters) from core.webhook_status`) {
		t.Error("an answer from where it was counts")
	}
}

// Addresses that the node was not told to allow are not reached.
//
// holds: H5
func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	run(t, db, &webhook.Sender{})
	r := receive(t, ok)
	create(db, "billing", strings.Replace(r.URL, "127.0.0.1", "localhost", 1), []string{"*"}, `{}`)
	emit(t, db, "a", `{}`)
	db.Wait(`select count(*) >= 1 from core.delivery_errors where consumer = 'billing' and error like '%the address is private%'`)
	if len(r.all()) != 0 {
		t.Error("reached")
	}
}

// Work delivers what is due without Run.
func TestWork(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	r := receive(t, ok)
	create(db, "billing", r.URL, []string{"*"}, `{}`)
	emit(t, db, "a", `{}`)
	emit(t, db, "b", `{}`)
	n := node.New(db.Pool, node.Config{Namespace: "shop"})
	n.Add(&webhook.Sender{Allow: local})
	if done, err := n.Work(t.Context(), 10); err != nil || done != 2 || len(r.all()) != 2 {
		t.Errorf("%d done, %d POSTs, %v", done, len(r.all()), err)
	}
}

// Two nodes POST to one receiver, which answers when it has as many as it may, and never gets more at once.
//
// holds: C4 (webhooks)
func TestMaxInFlight(t *testing.T) {
	t.Parallel()
	const most, events = 3, 12
	db := newDB(t)
	var mu sync.Mutex
	var now, highest int
	free := make(chan struct{})
	r := receive(t, func(w http.ResponseWriter, n int) {
		mu.Lock()
		now++
		highest = max(highest, now)
		mu.Unlock()
		<-free
		mu.Lock()
		now--
		mu.Unlock()
		ok(w, n)
	})
	create(db, "billing", r.URL, []string{"*"}, `{"max_in_flight": 3}`)
	for range events {
		emit(t, db, "order.placed", `{}`)
	}
	run(t, db, &webhook.Sender{Allow: local})
	run(t, db, &webhook.Sender{Allow: local})
	for i := range events {
		r.wait(t, min(i+most, events))
		free <- struct{}{}
	}
	db.Wait(`select not exists (select from pgmq.q_core_events_shop__billing)`)
	mu.Lock()
	defer mu.Unlock()
	if highest != most {
		t.Errorf("%d POSTs at once, want %d", highest, most)
	}
}

// The answer to a request is its reply, and how the receiver fails is told to whoever asked. Nothing is tried again.
//
// holds: R6 (webhooks)
func TestRequestsOfWebhooks(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	answers := []func(w http.ResponseWriter){
		func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{"cents": 9007199254740993}`) },
		func(w http.ResponseWriter) { _, _ = io.WriteString(w, "seven") },
		func(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) },
		func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) },
		func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) },
		func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
		},
	}
	r := receive(t, func(w http.ResponseWriter, n int) { answers[n-1](w) })
	r.knows(dbtest.Get[string](db, `select secret from core.create_handler('shop', 'webhook:crm', jsonb_build_object('url', $1::text, 'insecure', true))`, r.URL+"/in"))
	run(t, db, &webhook.Sender{Allow: local, Look: 20 * time.Millisecond})
	ask := func() string {
		got, err := queue.Request[json.RawMessage](t.Context(), db.Pool, queue.Emitter{Namespace: "shop"}, nexus.EventType[int]("webhook:crm"), 7)
		if e, ok := errors.AsType[*queue.ReplyError](err); ok {
			return fmt.Sprint(e.Status, " ", strings.Split(e.Message, ":")[0])
		}
		return fmt.Sprint(string(got), " ", err)
	}
	if got := ask(); got != "503 no live node has the handler webhook" {
		t.Errorf("before a node has looked: %s", got)
	}
	db.Wait(`select exists (select from core_private.node_capabilities where consumer = 'requests' and key = 'webhook:crm')`)
	for _, want := range []string{`{"cents": 9007199254740993} <nil>`, `"seven" <nil>`, "null <nil>", "422 webhook", "500 status 502", "503 status 503"} {
		if got := ask(); got != want {
			t.Errorf("the reply is %s, want %s", got, want)
		}
	}
	if p := r.wait(t, 1); !p.valid || p.kind != "crm" {
		t.Errorf("the POST: %s %v", p.kind, p.valid)
	}
	db.Wait(`select not exists (select from pgmq.q_core_events_shop__requests) and not exists (select from core.dead_letters) and not exists (select from core.inbox)`)
	if n := len(r.all()); n != len(answers) {
		t.Errorf("%d POSTs of %d requests", n, len(answers))
	}
}

// Events of one key are POSTed one after the other, over two nodes and whatever fails; where the attempts are used up their lane stands, and other keys go on.
//
// holds: ordered (webhooks)
func TestInOrder(t *testing.T) {
	t.Parallel()
	const keys, events = 3, 4
	db := newDB(t)
	var mu sync.Mutex
	taken, tried, wrong := map[string]int{}, map[string]int{}, []string{}
	bad := true
	r := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var e struct {
			Data struct {
				Key string
				I   int
			}
		}
		_ = json.NewDecoder(req.Body).Decode(&e)
		mu.Lock()
		defer mu.Unlock()
		if e.Data.I != taken[e.Data.Key] {
			wrong = append(wrong, fmt.Sprintf("%s %d after %d", e.Data.Key, e.Data.I, taken[e.Data.Key]))
		}
		id := fmt.Sprint(e.Data)
		if tried[id]++; bad && e.Data.Key == "k0" && e.Data.I == 2 || tried[id] == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		taken[e.Data.Key]++
	}))
	t.Cleanup(r.Close)
	// The keys have lanes of their own.
	create(db, "billing", r.URL, []string{"*"}, `{"kind": "ordered", "lanes": 64, "exhausted": "halt", "retry": {"max_attempts": 3, "base": "1 ms", "max": "1 ms"}}`)
	for i := range events {
		for k := range keys {
			key := fmt.Sprintf("k%d", k)
			if _, err := (queue.Emitter{Namespace: "shop"}).Emit(t.Context(), db.Pool, "a.b", map[string]any{"key": key, "i": i}, &queue.EmitOptions{OrderingKey: key}); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(t, db, &webhook.Sender{Allow: local})
	run(t, db, &webhook.Sender{Allow: local})
	db.Wait(`select count(*) filter (where state = 'halted' and why = 'halted at message 3') = 1 and sum(lag) = 2 from core.lane_status where queue = 'billing'`)
	mu.Lock()
	bad = false
	mu.Unlock()
	db.Exec(`select core.lane_resume('shop', 'billing', lane) from core.lane_status where state = 'halted'`)
	db.Wait(`select sum(lag) = 0 from core.lane_status where queue = 'billing'`)
	mu.Lock()
	defer mu.Unlock()
	if len(wrong) > 0 || len(taken) != keys || taken["k0"] != events || tried["{k0 2}"] != 4 {
		t.Errorf("taken %v, tried %v, %v", taken, tried, wrong)
	}
}
