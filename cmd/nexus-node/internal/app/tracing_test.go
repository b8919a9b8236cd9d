package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
	"github.com/nexuspg/nexus/internal/dbtest"
)

// Spans go where the standard variables say, those of SQL inside a span among them.
func TestSpansAreSent(t *testing.T) {
	db := dbtest.New(t)
	var mu sync.Mutex
	var paths []string
	var sent strings.Builder
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		paths = append(paths, r.URL.Path)
		sent.Write(body)
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_SERVICE_NAME", "stock")
	provider, stop, err := tracing(t.Context(), Slog(zerolog.Nop()))
	if err != nil {
		t.Fatal(err)
	}
	log := Logger(io.Discard, "debug")
	pool, err := Open(t.Context(), &config.Config{DatabaseURL: db.URL, ConnectTimeout: 5 * time.Second}, PoolOptions{Traces: provider, Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.Exec(t.Context(), "select 'outside of any span'"); err != nil {
		t.Fatal(err)
	}
	ctx, span := provider.Tracer("test").Start(t.Context(), "a handler")
	if _, err := pool.Exec(ctx, "select 'inside of it'"); err != nil {
		t.Fatal(err)
	}
	span.End()
	stop()
	mu.Lock()
	defer mu.Unlock()
	if len(paths) == 0 || paths[0] != "/v1/traces" {
		t.Fatalf("asked for %q", paths)
	}
	for _, want := range []string{"a handler", "inside of it", "stock"} {
		if !strings.Contains(sent.String(), want) {
			t.Errorf("no %q was sent", want)
		}
	}
	if strings.Contains(sent.String(), "outside of any span") {
		t.Error("a statement outside of any span was sent: each poll would be a trace")
	}
}
