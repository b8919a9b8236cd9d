package ingress_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/ingress"
	"github.com/nexuspg/nexus/internal/dbtest"
)

const token = "a token of shop's"

var tokens = ingress.Tokens(map[[sha256.Size]byte]nexus.Namespace{sha256.Sum256([]byte(token)): "shop", sha256.Sum256([]byte("of nobody's")): "gone"})

func start(t *testing.T) (*dbtest.DB, *httptest.Server, *bytes.Buffer) {
	t.Helper()
	db := dbtest.New(t)
	db.Namespace("shop")
	var logged bytes.Buffer
	s := httptest.NewServer(&ingress.Handler{DB: db.Pool, Authorize: tokens, MaxBytes: 100_000, Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	t.Cleanup(s.Close)
	return db, s, &logged
}

type answer struct {
	status int
	header http.Header
	Error  string
	Events []struct {
		ID        string
		EventID   int64  `json:"event_id"`
		EventUID  string `json:"event_uid"`
		Duplicate bool
	}
}

// post sends a body with headers, which come in pairs.
func post(t *testing.T, s *httptest.Server, body string, headers ...string) (a answer) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/cloudevents+json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || json.Unmarshal(text, &a) != nil {
		t.Fatalf("%d %v %s", res.StatusCode, err, text)
	}
	a.status, a.header = res.StatusCode, res.Header
	return a
}

const one = `{"specversion":"1.0","id":"7","source":"https://shop.example/web","type":"order.placed","time":"2026-01-02T03:04:05.123456Z","subject":"o",
	"partitionkey":"ann","correlationid":"c","traceparent":"00-1","extra":"x","data":{"id":12345678901234567890}}`

// An event arrives as it is, once, however often it is sent, and also when it is sent at once.
//
// holds: ingress
func TestStructured(t *testing.T) {
	t.Parallel()
	db, s, _ := start(t)
	first := post(t, s, one)
	if first.status != 202 || len(first.Events) != 1 || first.Events[0].ID != "7" || first.Events[0].Duplicate || first.Events[0].EventUID == "" {
		t.Fatalf("%+v", first)
	}
	var sending sync.WaitGroup
	for range 5 {
		sending.Go(func() {
			if again := post(t, s, one); again.status != 202 || !again.Events[0].Duplicate || again.Events[0].EventUID != first.Events[0].EventUID {
				t.Errorf("%+v", again)
			}
		})
	}
	sending.Wait()
	if a := post(t, s, strings.Replace(one, "/web", "/app", 1)); a.status != 202 || a.Events[0].Duplicate {
		t.Errorf("of another source: %+v", a)
	}
	got := dbtest.Get[string](db, `select concat_ws('|', event_type, payload, producer_node_id, correlation_id, authored_at at time zone 'UTC') from core.event_log where event_id = $1`, first.Events[0].EventID)
	if got != `order.placed|{"id": 12345678901234567890}|ingress|c|2026-01-02 03:04:05.123456` {
		t.Error(got)
	}
	headers := dbtest.Get[string](db, `select (headers - 'nexus-first-at')::text from pgmq.q_core_events_shop order by msg_id limit 1`)
	for _, want := range []string{`"ce-id": "7"`, `"ce-source": "https://shop.example/web"`, `"ce-subject": "o"`, `"ce-extra": "x"`, `"traceparent": "00-1"`} {
		if !strings.Contains(headers, want) {
			t.Errorf("%s is not in %s", want, headers)
		}
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.event_log`); n != 2 {
		t.Errorf("%d events", n)
	}
}

// holds: ingress
func TestBinaryAndBatches(t *testing.T) {
	t.Parallel()
	db, s, _ := start(t)
	if a := post(t, s, `{"a":1}`, "Content-Type", "application/json; charset=utf-8", "ce-specversion", "1.0", "ce-id", "1", "ce-source", "/s", "ce-type", "bin", "ce-subject", "caf%C3%A9"); a.status != 202 {
		t.Errorf("%+v", a)
	}
	if a := post(t, s, `hello`, "Content-Type", "text/plain", "ce-specversion", "1.0", "ce-id", "2", "ce-source", "/s", "ce-type", "text"); a.status != 202 {
		t.Errorf("%+v", a)
	}
	batch := `[{"specversion":"1.0","id":"3","source":"/s","type":"b"},{"specversion":"1.0","id":"1","source":"/s","type":"b"},{"specversion":"1.0","id":"4","source":"/s","type":"b","data":null}]`
	a := post(t, s, batch, "Content-Type", "application/cloudevents-batch+json")
	if a.status != 202 || len(a.Events) != 3 || a.Events[0].ID != "3" || !a.Events[1].Duplicate || a.Events[2].ID != "4" {
		t.Errorf("%+v", a)
	}
	if a := post(t, s, `[]`, "Content-Type", "application/cloudevents-batch+json"); a.status != 202 || len(a.Events) != 0 {
		t.Errorf("%+v", a)
	}
	if got := dbtest.Get[string](db, `select string_agg(event_type || ' ' || payload::text, ', ' order by event_id) from core.event_log`); got != `bin {"a": 1}, text "hello", b {}, b null` {
		t.Error(got)
	}
	if got := dbtest.Get[string](db, `select headers ->> 'ce-subject' from pgmq.q_core_events_shop order by msg_id limit 1`); got != "café" {
		t.Error(got)
	}
}

// holds: ingress
func TestRefusals(t *testing.T) {
	t.Parallel()
	db, s, logged := start(t)
	with := func(from, to string) string { return strings.Replace(one, from, to, 1) }
	for name, c := range map[string]struct {
		status  int
		says    string
		body    string
		headers []string
	}{
		"no token":            {401, "token", one, []string{"Authorization", ""}},
		"another token":       {401, "token", one, []string{"Authorization", "Bearer x"}},
		"another scheme":      {401, "token", one, []string{"Authorization", "Basic " + token}},
		"a namespace gone":    {500, "not taken", one, []string{"Authorization", "Bearer of nobody's"}},
		"another type":        {415, "content type", one, []string{"Content-Type", "application/json"}},
		"none":                {415, "content type", one, []string{"Content-Type", ""}},
		"protobuf":            {415, "content type", one, []string{"Content-Type", "application/cloudevents+protobuf"}},
		"no JSON":             {400, "JSON object", `{"specversion"`, nil},
		"empty":               {400, "JSON object", ``, nil},
		"an array":            {400, "JSON object", `[]`, nil},
		"two":                 {400, "JSON object", one + one, nil},
		"no id":               {400, "id", with(`"id":"7",`, ""), nil},
		"an empty id":         {400, "id", with(`"id":"7"`, `"id":""`), nil},
		"a number as id":      {400, "id is not a string", with(`"id":"7"`, `"id":7`), nil},
		"an id twice":         {400, "twice", with(`"id":"7"`, `"id":"7","id":"8"`), nil},
		"no source":           {400, "source", with(`"source":"https://shop.example/web",`, ""), nil},
		"no type":             {400, "type", with(`"type":"order.placed",`, ""), nil},
		"no version":          {400, "specversion", with(`"specversion":"1.0",`, ""), nil},
		"an old version":      {400, "specversion", with(`"1.0"`, `"0.3"`), nil},
		"no time":             {400, "time", with(`2026-01-02T03:04:05.123456Z`, "now"), nil},
		"base64 that is none": {400, "data_base64", with(`"data":{"id":12345678901234567890}`, `"data_base64":5`), nil},
		"data twice":          {400, "data_base64", with(`"data":`, `"data_base64":"e30=","data":`), nil},
		"data of no kind":     {415, "neither JSON nor text", with(`"data":{"id":12345678901234567890}`, `"datacontenttype":"image/png","data_base64":"e30="`), nil},
		"not our type":        {400, "event type", with("order.placed", "order placed"), nil},
		"injected":            {400, "event type", with("order.placed", `order\r\nX: 1`), nil},
		"too deep":            {400, "", with(`{"id":12345678901234567890}`, strings.Repeat("[", 1500)+strings.Repeat("]", 1500)), nil},
		"too large":           {413, "100000 bytes", strings.Repeat(" ", 100_001), nil},
		"one bad of a batch":  {400, "event 2", "[" + one + `,{"specversion":"1.0"}]`, []string{"Content-Type", "application/cloudevents-batch+json"}},
		"data of binary":      {400, "not JSON", `{`, []string{"Content-Type", "application/json", "ce-specversion", "1.0", "ce-id", "1", "ce-source", "/s", "ce-type", "bin"}},
	} {
		if a := post(t, s, c.body, c.headers...); a.status != c.status || !strings.Contains(a.Error, c.says) {
			t.Errorf("%s: %d %q", name, a.status, a.Error)
		}
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.event_log`); n != 0 {
		t.Errorf("%d events were taken", n)
	}
	res, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != 405 || res.Header.Get("Allow") != "POST" {
		t.Errorf("GET: %d", res.StatusCode)
	}
	s.Close()
	if strings.Contains(logged.String(), token) || strings.Contains(logged.String(), "nobody's") {
		t.Error("a token is logged")
	}
}

// A database that is away is not the sender's fault.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(&ingress.Handler{Authorize: func(context.Context, string) (nexus.Namespace, error) {
		return "", &nexus.Error{Op: "x", Message: "password", Code: "57P03", Err: errors.New("away")}
	}})
	t.Cleanup(s.Close)
	if a := post(t, s, one); a.status != 503 || a.header.Get("Retry-After") != "5" || strings.Contains(a.Error, "password") {
		t.Errorf("%+v", a)
	}
}

// A token of the database is for one namespace, until it is taken back.
//
// holds: ingress, others-open
func TestKeptTokens(t *testing.T) {
	t.Parallel()
	db, _, _ := start(t)
	kept, err := ingress.CreateToken(t.Context(), db.Owner, "shop", "web")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(&ingress.Handler{DB: db.Pool, Authorize: ingress.Kept(db.Pool)})
	t.Cleanup(s.Close)
	if a := post(t, s, one, "Authorization", "Bearer "+kept); a.status != 202 {
		t.Errorf("%+v", a)
	}
	last := kept[len(kept)-1:]
	other := map[bool]string{true: "0", false: "1"}[last == "1"]
	for _, wrong := range []string{kept[:len(kept)-1] + other, kept + "0", kept[:40], strings.ToUpper(kept), "nxi_", "nxi_x_y", token} {
		if a := post(t, s, one, "Authorization", "Bearer "+wrong); a.status != 401 {
			t.Errorf("%s: %d", wrong, a.status)
		}
	}
	if revoked, err := ingress.RevokeToken(t.Context(), db.Owner, "shop", "web"); err != nil || !revoked {
		t.Errorf("%v %v", revoked, err)
	}
	if a := post(t, s, one, "Authorization", "Bearer "+kept); a.status != 401 {
		t.Errorf("taken back: %d", a.status)
	}
}
