package app

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestNodeConfig(t *testing.T) {
	cfg := &config.Config{
		Namespace: "shop", NodeID: "n1", Workers: 3, Lease: 40 * time.Second, IdlePollInterval: 2 * time.Second,
		Grace: 5 * time.Second, HandlerTimeout: -time.Second, WakeURL: "postgres://h/d",
	}
	want := node.Config{
		Namespace: "shop", ID: "n1", Workers: 3, Lease: 40 * time.Second, Poll: 2 * time.Second, Grace: 5 * time.Second,
		Timeout: -time.Second, WakeURL: "postgres://h/d",
	}
	got := nodeConfig(cfg, zerolog.Nop())
	if got.Logger == nil {
		t.Error("the node gets no logger")
	}
	got.Logger = nil
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	// Zero is "none" in a setting and "the default" in node.Config.
	cfg.Grace = 0
	if got := nodeConfig(cfg, zerolog.Nop()); got.Grace >= 0 {
		t.Errorf("a grace of 0 becomes %s", got.Grace)
	}
}

func TestPool(t *testing.T) {
	db := dbtest.New(t)
	cfg := &config.Config{DatabaseURL: db.URL, ConnectTimeout: 10 * time.Second, PoolMaxConns: 7}
	pool, err := Open(t.Context(), cfg, PoolOptions{Application: "an application"})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var name string
	if err := pool.QueryRow(t.Context(), "select current_setting('application_name')").Scan(&name); err != nil || name != "an application" {
		t.Errorf("application_name is %q, %v", name, err)
	}
	if got := pool.Config().MaxConns; got != 7 {
		t.Errorf("the pool has %d connections", got)
	}
}

// SQL is logged at debug and nowhere else, also the statement that fails, which is its caller's to report.
func TestSQLIsLoggedAtDebug(t *testing.T) {
	db := dbtest.New(t)
	cfg := &config.Config{DatabaseURL: db.URL, ConnectTimeout: 10 * time.Second}
	for level, logged := range map[string]bool{"debug": true, "info": false} {
		var out bytes.Buffer
		log := Logger(&out, level)
		pool, err := Open(t.Context(), cfg, PoolOptions{Log: &log, MaxConns: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pool.Exec(t.Context(), "select 1/0"); err == nil {
			t.Fatal("1/0 succeeds")
		}
		pool.Close()
		text := out.String()
		if strings.Contains(text, `"sql":"select 1/0"`) != logged {
			t.Errorf("at %s the log is\n%s", level, text)
		}
		if strings.Contains(text, `"level":"error"`) {
			t.Errorf("at %s a failed statement is logged as an error:\n%s", level, text)
		}
	}
}

func TestSlogGoesThroughZerolog(t *testing.T) {
	var out bytes.Buffer
	log := Slog(Logger(&out, "info"))
	log.Debug("hidden")
	log.With("node", "n1").Warn("seen", "after", time.Second)
	for _, want := range []string{`"level":"warn"`, `"node":"n1"`, `"message":"seen"`, `"time":`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, &out)
		}
	}
	if strings.Contains(out.String(), "hidden") {
		t.Error("debug is logged at info")
	}
}

func TestADatabaseURLIsNeeded(t *testing.T) {
	_, err := Pool(t.Context(), &config.Config{}, PoolOptions{})
	if err == nil || !strings.Contains(err.Error(), "NEXUS_DATABASE_URL is not set") {
		t.Error(err)
	}
}
