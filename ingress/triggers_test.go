package ingress_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/ingress"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/trigger"
)

type reply struct {
	status int
	header http.Header
	body   string
}

func call(ctx context.Context, t *testing.T, method, url, body string, headers ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{body: err.Error()}
	}
	defer func() { _ = res.Body.Close() }()
	text, _ := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, strings.TrimSpace(string(text))}
}

// raw sends bytes, and no more if that is the end, and has the status of what comes back.
func raw(t *testing.T, url, request string, end bool) int {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	if end {
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	return res.StatusCode
}

// Through a real server and a live node: what is asked, by whom, and what comes of it; the routes follow the triggers.
//
// holds: R7, others-text (by HTTP), others-open
func TestTriggersOfHTTP(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	create := func(name string, h trigger.HTTP, target string, sync bool) {
		t.Helper()
		if _, err := trigger.Create(t.Context(), db.Owner, trigger.Trigger{Namespace: "shop", Name: name, HTTP: &h, Target: target, Sync: sync, Replace: true}); err != nil {
			t.Fatal(err)
		}
	}
	const secret = "a long random token"
	create("order", trigger.HTTP{Method: "POST", Path: "/orders/{id}", Token: secret}, "go:order", false)
	// So long that what is cancelled was not ended by it.
	create("price", trigger.HTTP{Method: "POST", Path: "/price/{what}", Public: true, Timeout: 5 * time.Minute}, "go:price", true)
	create("closer", trigger.HTTP{Method: "POST", Path: "/price/none", Public: true}, "go:nobody", true)

	n := node.New(db.Pool, node.Config{Namespace: "shop", Logger: slog.New(slog.DiscardHandler)})
	type handledCall struct {
		uid string
		trigger.Call
	}
	handled := make(chan handledCall, 10)
	n.Triggers().OnLeased("order", func(_ context.Context, d *nexus.Delivery) error {
		c := handledCall{uid: d.UID.String()}
		err := d.Decode(&c.Call)
		handled <- c
		return err
	})
	release := make(chan struct{})
	node.OnRequest(n, "price", func(_ context.Context, d *nexus.DeliveryOf[trigger.Call]) (any, error) {
		switch d.Payload.Params["what"] {
		case "reject":
			return nil, nexus.Reject("out of stock")
		case "error":
			return nil, errors.New("a secret of ours")
		case "hang":
			<-release
		}
		var body struct{ N int }
		if err := json.Unmarshal(d.Payload.Body, &body); err != nil {
			return nil, nexus.Reject("n is a number")
		}
		return map[string]any{"what": d.Payload.Params["what"], "n": body.N}, nil
	})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = n.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	db.Wait(`select count(*) = 2 from core_private.node_capabilities c join core.nodes n using (node_id) where c.key in ('go:order', 'go:price') and n.state = 'active'`)
	var logged strings.Builder
	s := httptest.NewServer(&ingress.Triggers{DB: db.Pool, Namespace: "shop", MaxBytes: 100_000, MaxInFlight: 2, Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	t.Cleanup(s.Close)
	auth := []string{"Authorization", "Bearer " + secret, "Content-Type", "application/json; charset=utf-8"}
	do := func(method, path, body string, headers ...string) reply {
		t.Helper()
		r := call(t.Context(), t, method, s.URL+path, body, headers...)
		if r.header.Get("Content-Type") != "application/json" || r.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s is answered with %v", method, path, r.header)
		}
		return r
	}

	// delivered
	r := do("POST", "/orders/a%2Fb?x=1&x=2", `{"n": 12345678901234567890}`, auth...)
	var accepted struct {
		EventUID   string `json:"event_uid"`
		AcceptedAt string `json:"accepted_at"`
	}
	if err := json.Unmarshal([]byte(r.body), &accepted); err != nil || r.status != 202 || accepted.AcceptedAt == "" {
		t.Fatalf("%+v %v", r, err)
	}
	if c := <-handled; c.uid != accepted.EventUID || c.Method != "POST" || c.Params["id"] != "a/b" || len(c.Query["x"]) != 2 || string(c.Body) != `{"n": 12345678901234567890}` || c.Path != "/orders/a/b" {
		t.Errorf("%+v", c)
	}

	// answered
	asJSON := []string{"Content-Type", "application/json"}
	for _, c := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"/price/tea", `{"n": 2}`, 200, `{"n":2,"what":"tea"}`},
		{"/price/tea", ``, 200, `{"n":0,"what":"tea"}`},
		{"/price/reject", `{}`, 422, `out of stock`},
		{"/price/tea", `{"n": "two"}`, 422, ``},
		{"/price/error", `{}`, 500, `{"error":"internal server error"}`},
		{"/price/none", `{}`, 503, `{"error":"service unavailable"}`},
	} {
		if r := do("POST", c.path, c.body, asJSON...); r.status != c.status || !strings.Contains(r.body, c.says) {
			t.Errorf("%s %s: %d %s", c.path, c.body, r.status, r.body)
		}
	}

	// refused
	for name, c := range map[string]struct {
		status       int
		method, path string
		body         string
		headers      []string
	}{
		"nothing there":    {404, "POST", "/nothing", "", nil},
		"beyond":           {404, "POST", "/orders/1/2", "", auth},
		"an empty segment": {404, "POST", "/orders/", "", auth},
		"another method":   {405, "GET", "/orders/1", "", auth},
		"no token":         {401, "POST", "/orders/1", "", asJSON},
		"another token":    {401, "POST", "/orders/1", "", []string{"Authorization", "Bearer x"}},
		"another scheme":   {401, "POST", "/orders/1", "", []string{"Authorization", "Basic " + secret}},
		"two tokens":       {401, "POST", "/orders/1", "", []string{"Authorization", "Bearer " + secret, "Authorization", "Bearer " + secret}},
		"too large":        {413, "POST", "/price/tea", strings.Repeat(" ", 100_001), asJSON},
		"a form":           {415, "POST", "/price/tea", "a=1", []string{"Content-Type", "application/x-www-form-urlencoded"}},
		"no type":          {415, "POST", "/price/tea", "{}", nil},
		"latin":            {415, "POST", "/price/tea", "{}", []string{"Content-Type", "application/json; charset=latin1"}},
		"no JSON":          {400, "POST", "/price/tea", "{", asJSON},
		"two":              {400, "POST", "/price/tea", "{}{}", asJSON},
		"a bad address":    {400, "POST", "/price/%00", "{}", asJSON},
		"a bad query":      {400, "POST", "/price/tea?%zz", "{}", asJSON},
		"what no database": {400, "POST", "/price/tea", `{"a": "\u0000"}`, asJSON},
		"deeper than any":  {400, "POST", "/price/tea", strings.Repeat("[", 9000) + strings.Repeat("]", 9000), asJSON},
		"larger than any":  {400, "POST", "/price/tea", `{"n": 1e400000}`, asJSON},
		"a large number":   {400, "POST", "/price/tea", `{"n": 1e400}`, asJSON},
	} {
		if r := do(c.method, c.path, c.body, c.headers...); r.status != c.status || !strings.Contains(r.body, `"error"`) || (c.status == 405) != (r.header.Get("Allow") == "POST") {
			t.Errorf("%s: %d %v %s", name, r.status, r.header, r.body)
		}
	}

	hasty := httptest.NewUnstartedServer(s.Config.Handler)
	hasty.Config.ReadTimeout = 200 * time.Millisecond
	hasty.Start()
	t.Cleanup(hasty.Close)
	for _, c := range []struct {
		status    int
		url, rest string
		end       bool
	}{
		{400, s.URL, "Transfer-Encoding: chunked\r\n\r\nno\r\n{}\r\n", true},
		{400, s.URL, "Content-Length: 9\r\n\r\n{}", true},
		{408, hasty.URL, "Content-Length: 9\r\n\r\n{}", false},
	} {
		if status := raw(t, c.url, "POST /price/tea HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+c.rest, c.end); status != c.status {
			t.Errorf("%s: %d in place of %d", c.rest, status, c.status)
		}
	}

	// who is slow with a body takes nobody's place
	var slowly []net.Conn
	for range 3 {
		slow, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		slowly = append(slowly, slow)
		if _, err := slow.Write([]byte("POST /price/tea HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{}")); err != nil {
			t.Fatal(err)
		}
	}
	if r := do("POST", "/price/tea", "{}", asJSON...); r.status != 200 {
		t.Errorf("beside slow callers: %+v", r)
	}
	for _, c := range slowly {
		_ = c.Close()
	}

	// too many, and callers that leave
	leaving, leave := context.WithCancel(t.Context())
	var left sync.WaitGroup
	for range 2 {
		left.Go(func() { call(leaving, t, "POST", s.URL+"/price/hang", "{}", asJSON...) })
	}
	db.Wait(`select count(*) = 2 from core.inbox where state = 'running'`)
	if r := do("POST", "/price/tea", "{}", asJSON...); r.status != 429 || r.header.Get("Retry-After") != "1" {
		t.Errorf("a third: %+v", r)
	}
	leave()
	left.Wait()
	db.Wait(`select count(*) = 0 from core.inbox`)
	close(release)
	db.Wait(`select count(*) = 2 from core.abandoned_executions where why = 'nobody waits'`)

	// routes follow at once where one is known, and within a second where none is
	create("order", trigger.HTTP{Method: "POST", Path: "/orders/{id}", Token: "another one"}, "go:order", false)
	if r := do("POST", "/orders/1", "", auth...); r.status != 401 {
		t.Errorf("the token of before: %+v", r)
	}
	if r := do("POST", "/orders/1", "", "Authorization", "Bearer another one"); r.status != 202 {
		t.Errorf("the token of now: %+v", r)
	}
	<-handled
	if _, err := trigger.Disable(t.Context(), db.Owner, "shop", "order", false); err != nil {
		t.Fatal(err)
	}
	if r := do("POST", "/orders/1", "", "Authorization", "Bearer another one"); r.status != 404 {
		t.Errorf("disabled: %+v", r)
	}
	if r := do("GET", "/new", ""); r.status != 404 {
		t.Errorf("not there: %+v", r)
	}
	create("new", trigger.HTTP{Method: "GET", Path: "/new", Public: true}, "go:order", false)
	for r := do("GET", "/new", ""); r.status != 202; r = do("GET", "/new", "") {
		if r.status != 404 {
			t.Fatalf("new: %+v", r)
		}
	}
	<-handled
	if _, err := trigger.Delete(t.Context(), db.Owner, "shop", "closer"); err != nil {
		t.Fatal(err)
	}
	if r := do("POST", "/price/none", "{}", asJSON...); r.status != 200 {
		t.Errorf("a closer one that was deleted: %+v", r)
	}

	s.Close()
	for _, word := range []string{secret, "12345678901234567890", "another one"} {
		if strings.Contains(logged.String(), word) {
			t.Errorf("%s is logged", word)
		}
	}
}

// away is a pool whose database can be away.
type away struct {
	nexus.DBTX
	is    atomic.Bool
	looks atomic.Int64 // at the routes, which were answered
}

func (a *away) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if a.is.Load() {
		return gone{}
	}
	if strings.Contains(sql, "http_routes") {
		a.looks.Add(1)
	}
	return a.DBTX.QueryRow(ctx, sql, args...)
}

type gone struct{}

func (gone) Scan(...any) error {
	return &pgconn.PgError{Code: "57P03", Message: "the database system is starting up"}
}

// While the database is away the routes stay: what is known is asked for again, and what is not is no reason to forget it.
//
// holds: R7 (the database is away)
func TestRoutesStayWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	if _, err := trigger.Create(t.Context(), db.Owner, trigger.Trigger{Namespace: "shop", Name: "order", HTTP: &trigger.HTTP{Method: "POST", Path: "/orders", Public: true}, Target: "go:order"}); err != nil {
		t.Fatal(err)
	}
	pool := &away{DBTX: db.Pool}
	s := httptest.NewServer(&ingress.Triggers{DB: pool, Namespace: "shop", Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(s.Close)
	ask := func(what, path string, want int) {
		t.Helper()
		if a := call(t.Context(), t, "POST", s.URL+path, "{}", "Content-Type", "application/json"); a.status != want {
			t.Errorf("%s: %d %s", what, a.status, a.body)
		}
	}
	ask("known", "/orders", 202)
	pool.is.Store(true)
	ask("away", "/orders", 503)
	for range 3 {
		a := call(t.Context(), t, "POST", s.URL+"/nothing", "{}", "Content-Type", "application/json")
		if a.status != 503 && a.status != 404 { // looked for in vain, or known as unknown within a second of that
			t.Errorf("unknown: %d %s", a.status, a.body)
		}
	}
	ask("still away", "/orders", 503)
	pool.is.Store(false)
	before := pool.looks.Load()
	ask("back", "/orders", 202)
	if n := pool.looks.Load(); n != before {
		t.Errorf("%d looks, where the routes are known", n-before)
	}
}
