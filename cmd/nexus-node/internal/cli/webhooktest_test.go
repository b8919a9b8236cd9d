package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/webhook/signature"
)

// holds: H5
func TestWebhookTest(t *testing.T) {
	t.Parallel()
	db, s := onDatabase(t)
	db.Namespace("shop")
	s.cfg.Namespace = "shop"
	var key signature.Key
	var said string
	verdicts := map[string]int{"/in": 204, "/busy": 503, "/gone": 410}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		said = string(body)
		status := verdicts[r.URL.Path]
		if signature.Verify(r.Header, body, time.Now(), key) != nil {
			status = http.StatusUnauthorized
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "because of "+key.Secret())
	}))
	t.Cleanup(server.Close)
	secret := okJSON[struct{ Secret string }](s, "webhook", "create", "hook", server.URL+"/in", "--pattern", "*", "--insecure", "--source", "/shop").Secret
	key, err := signature.ParseKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	type probed struct {
		URL, ID, Wrong string
		Status         int
		Delivered      bool
	}
	if r := s.run("webhook", "test", "hook"); r.code != exitFailed || !strings.Contains(r.out, "private, and not allowed") {
		t.Errorf("a private address: %d %s%s", r.code, r.out, r.errors)
	}
	s.cfg.WebhookAllow = "127.0.0.0/8"
	got := okJSON[probed](s, "webhook", "test", "hook")
	if got.Status != 204 || !got.Delivered || got.Wrong != "" || got.URL != server.URL+"/in" || got.ID == "" {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(said, `"type":"nexus.webhook.test"`) || !strings.Contains(said, `"source":"/shop"`) || !strings.Contains(said, got.ID) {
		t.Errorf("sent %s", said)
	}
	s.fails(exitNotFound, []string{"has no webhook nope"}, "webhook", "test", "nope")
	s.fails(exitUsage, []string{"--secret-file"}, "webhook", "test", "hook", "--secret-file", "x")
	s.fails(exitUsage, []string{"--secret-file"}, "webhook", "test", server.URL)

	// An address needs no database; the receiver's answer shows no secret.
	s.cfg.DatabaseURL = "postgres://nobody@127.0.0.1:1/nowhere"
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/busy": "status 503: because of [secret]", "/gone": "status 410: because of [secret]"} {
		r := s.run("webhook", "test", server.URL+path, "--secret-file", file)
		if r.code != exitFailed || !strings.Contains(r.out, want) || strings.Contains(r.out, secret) {
			t.Errorf("%s: %d %s%s", path, r.code, r.out, r.errors)
		}
	}
	s.cfg.DatabaseURL = db.OwnerURL
	if n := dbtest.Get[int](db, `select (select count(*) from core.event_log) + (select count(*) from pgmq.q_core_events_shop__hook) + (select count(*) from core.webhook_status where failing_since is not null or last_delivered_at is not null)`); n != 0 {
		t.Error("something is stored")
	}
}
