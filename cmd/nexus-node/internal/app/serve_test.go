package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/trigger"
)

type fakeNode struct{ health, ready error }

func (f *fakeNode) Health() error { return f.health }
func (f *fakeNode) Ready() error  { return f.ready }

func TestEndpoints(t *testing.T) {
	n := &fakeNode{}
	h := handler(n, prometheus.NewRegistry(), Slog(zerolog.Nop()))
	ask := func(method, path string) (int, string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w.Code, w.Body.String()
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		if code, _ := ask("GET", path); code != http.StatusOK {
			t.Errorf("%s of a good node: %d", path, code)
		}
		if code, _ := ask("POST", path); code != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", path, code)
		}
	}
	n.ready = errors.New("deaf")
	if code, body := ask("GET", "/readyz"); code != http.StatusServiceUnavailable || body != "deaf\n" {
		t.Errorf("/readyz of a deaf node: %d %q", code, body)
	}
	if code, _ := ask("GET", "/healthz"); code != http.StatusOK {
		t.Errorf("/healthz follows Ready: %d", code)
	}
	n.health = errors.New("deaf")
	if code, _ := ask("GET", "/healthz"); code != http.StatusServiceUnavailable {
		t.Errorf("/healthz of a deaf node: %d", code)
	}
	for _, path := range []string{"/", "/debug/pprof/", "/debug/vars"} {
		if code, _ := ask("GET", path); code != http.StatusNotFound {
			t.Errorf("%s: %d", path, code)
		}
	}
}

// log is a buffer for goroutines.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Readers that ask and take nothing hold nobody up, however many they are, and are cut off in the end.
// holds: slow-readers
func TestSlowReadersOfMetrics(t *testing.T) {
	const size = 16 << 20 // more than the sockets between them hold
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "big", Help: strings.Repeat("x", size)}, func() float64 { return 1 }))
	all := handler(&fakeNode{}, registry, Slog(zerolog.Nop()))
	for name, h := range map[string]http.Handler{
		"more than are rendered at once": all,
		"more than are read at once":     &scrapes{next: all, renders: make(chan struct{}, 1), most: 2},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(h)
			defer server.Close()
			var first net.Conn
			for range rendersAtOnce + 1 {
				conn := ask(t, server.Listener.Addr().String())
				defer conn.Close()
				if first == nil {
					first = conn
				}
			}
			r, err := http.Get(server.URL + "/metrics")
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, r.Body)
			_ = r.Body.Close()
			if r.StatusCode != http.StatusOK || n < size || err != nil {
				t.Errorf("beside slow readers: %d, %d bytes, %v", r.StatusCode, n, err)
			}
			if h == all {
				return
			}
			if n, _ := io.Copy(io.Discard, first); n >= size {
				t.Errorf("one that should give way got all of it")
			}
		})
	}
}

// ask sends a request and reads no more of the answer than how it begins.
func ask(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprint(conn, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 12)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// holds: N3
func TestRunAnswers(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec("select core.emit('shop', 'x')")
	var out log
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	cfg := &config.Config{
		DatabaseURL: db.URL, Namespace: "shop", ConnectTimeout: 5 * time.Second, Lease: 30 * time.Second, IdlePollInterval: time.Second,
		HandlerTimeout: time.Minute, HTTPAddress: "127.0.0.1:0",
	}
	go func() { done <- Run(ctx, cfg, Logger(&out, "info")) }()
	db.Wait("select exists (select from core.nodes where state = 'active')")
	found := regexp.MustCompile(`"address":"([^"]+)"`).FindStringSubmatch(out.String())
	if found == nil {
		t.Fatalf("the log does not say where it answers:\n%s", &out)
	}
	get := func(path string) (int, string) {
		r, err := http.Get("http://" + found[1] + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(body)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		if code, _ := get("/readyz"); code == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("not ready after a minute")
		}
	}
	_, text := get("/metrics")
	for _, want := range []string{
		`nexus_queue_messages{consumer="default",namespace="shop",state="visible"} 1`, `nexus_node_ready{namespace="shop"} 1`, "go_goroutines",
		"process_cpu_seconds_total",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if r, err := http.Get("http://" + found[1] + "/healthz"); err == nil {
		_ = r.Body.Close()
		t.Error("it still answers after the end")
	}

	cfg.HTTPAddress = "192.0.2.1:1"
	if err := Run(t.Context(), cfg, zerolog.Nop()); err == nil || !strings.Contains(err.Error(), "NEXUS_HTTP_ADDRESS") {
		t.Errorf("an address of another machine: %v", err)
	}
}

// A node of another version than the schema's calls what is not there, or reads what means something else: it does not begin.
// holds: run-schema
func TestRunRefusesAnotherSchema(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	cfg := &config.Config{DatabaseURL: db.URL, Namespace: "shop", ConnectTimeout: 10 * time.Second, Lease: 30 * time.Second, IdlePollInterval: time.Second, HandlerTimeout: time.Minute}
	for _, c := range []struct{ schema, code string }{
		{"insert into core_private.schema_migrations (version, name, sha256) values (9999, 'later', 'x')", nexus.CodeSchemaNewer},
		{"delete from core_private.schema_migrations", nexus.CodeSchemaOlder},
		{"drop function core.schema_version()", nexus.CodeSchemaOlder},
	} {
		db.Exec(c.schema)
		ctx, end := context.WithTimeout(t.Context(), time.Minute) // where it is not refused it runs
		err := Run(ctx, cfg, zerolog.Nop())
		end()
		var e *nexus.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Hint == "" {
			t.Errorf("after %q: %v, want %s", c.schema, err, c.code)
		}
	}
	if n := dbtest.Get[int](db, "select count(*)::int from core.nodes"); n > 0 {
		t.Error("a node registered")
	}
}

// Events are taken only where that is asked for, and only by a token of the database.
//
// holds: ingress, others-open
func TestIngressIsAskedFor(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	token := dbtest.Get[string](db, `select core.create_ingress_token('shop', 'web')`)
	rest := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	send := func(setting, token string) int {
		h := withIngress(&config.Config{Ingress: setting}, db.Pool, rest, slog.New(slog.DiscardHandler))
		req := httptest.NewRequest(http.MethodPost, "/events", strings.NewReader(`{"specversion":"1.0","id":"7","source":"/web","type":"a"}`))
		req.Header.Set("Content-Type", "application/cloudevents+json")
		req.Header.Set("Authorization", "Bearer "+token)
		res := httptest.NewRecorder()
		h.ServeHTTP(res, req)
		return res.Code
	}
	if got := []int{send("off", token), send("", token), send("on", "x"), send("on", token)}; !slices.Equal(got, []int{418, 418, 401, 202}) {
		t.Error(got)
	}
	h := withIngress(&config.Config{Ingress: "on"}, db.Pool, rest, slog.New(slog.DiscardHandler))
	res := httptest.NewRecorder()
	h.ServeHTTP(res, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	if res.Code != http.StatusTeapot {
		t.Errorf("/healthz: %d", res.Code)
	}
}

// A node that is told to stop takes no more calls, and those that are under way are answered.
//
// holds: R7 (drained)
func TestTriggersDrain(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	if _, err := trigger.Create(t.Context(), db.Owner, trigger.Trigger{Namespace: "shop", Name: "slow", Target: "go:slow", Sync: true, HTTP: &trigger.HTTP{Method: "GET", Path: "/slow", Public: true}}); err != nil {
		t.Fatal(err)
	}
	other := node.New(db.Pool, node.Config{Namespace: "shop", Logger: slog.New(slog.DiscardHandler)})
	release := make(chan struct{})
	node.OnRequest(other, "slow", func(context.Context, *nexus.DeliveryOf[trigger.Call]) (string, error) {
		<-release
		return "done", nil
	})
	var running sync.WaitGroup
	running.Go(func() { _ = other.Run(t.Context()) })
	t.Cleanup(running.Wait)
	db.Wait(`select exists (select from core_private.node_capabilities c join core.nodes n using (node_id) where c.key = 'go:slow' and n.state = 'active')`)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out log
	cfg := &config.Config{
		DatabaseURL: db.URL, Namespace: "shop", ConnectTimeout: 5 * time.Second, Lease: 30 * time.Second, IdlePollInterval: time.Second,
		HandlerTimeout: time.Minute, Grace: time.Minute, TriggerAddress: "127.0.0.1:0",
	}
	done := make(chan error)
	go func() { done <- Run(ctx, cfg, Logger(&out, "info")) }()
	db.Wait("select count(*) = 2 from core.nodes where state = 'active'")
	address := "http://" + regexp.MustCompile(`"address":"([^"]+)"`).FindStringSubmatch(out.String())[1]
	get := func(path string) (int, string) {
		r, err := http.Get(address + path)
		if err != nil {
			return 0, err.Error()
		}
		defer r.Body.Close()
		body, _ := io.ReadAll(r.Body)
		return r.StatusCode, string(body)
	}
	if code, _ := get("/metrics"); code != http.StatusNotFound {
		t.Errorf("/metrics beside the triggers: %d", code)
	}
	answered := make(chan string)
	go func() {
		code, body := get("/slow")
		answered <- fmt.Sprintf("%d %s", code, strings.TrimSpace(body))
	}()
	db.Wait(`select exists (select from core.inbox where state = 'running')`)
	cancel()
	db.Wait(`select count(*) = 1 from core.nodes where state = 'active'`)
	for code := 1; code != 0; {
		code, _ = get("/new")
	}
	close(release)
	if got := <-answered; got != `200 "done"` {
		t.Error(got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}

	cfg.TriggerAddress = "192.0.2.1:1"
	if err := Run(t.Context(), cfg, zerolog.Nop()); err == nil || !strings.Contains(err.Error(), "NEXUS_TRIGGER_ADDRESS") {
		t.Errorf("an address of another machine: %v", err)
	}
}
