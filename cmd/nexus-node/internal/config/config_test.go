package config

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kelseyhightower/envconfig"
)

// clean removes every variable that Load looks at for the length of the test.
func clean(t *testing.T) {
	t.Helper()
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "NEXUS_") || strings.HasPrefix(name, "CORE_") {
			t.Setenv(name, "") // restores the old value when the test ends
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func load(t *testing.T, env map[string]string) (*Config, []string, error) {
	t.Helper()
	clean(t)
	for name, value := range env {
		t.Setenv(name, value)
	}
	return Load()
}

func TestDefaults(t *testing.T) {
	c, warnings, err := load(t, nil)
	if err != nil || len(warnings) != 0 {
		t.Fatalf("an empty environment gives %v, %v", warnings, err)
	}
	if c.IdlePollInterval != time.Second || c.Lease != 30*time.Second || c.Grace != 30*time.Second || c.LogLevel != "info" {
		t.Errorf("defaults are %+v", c)
	}
	for _, s := range c.Settings() {
		if s.Source != "default" {
			t.Errorf("%s comes from %q in an empty environment", s.Name, s.Source)
		}
		if s.About == "" || s.Accepts == "" {
			t.Errorf("%s does not say what it is for and what it takes", s.Name)
		}
	}
}

// The names that fields derive must be those that envconfig reads.
func TestNamesAreEnvconfigs(t *testing.T) {
	clean(t)
	for _, f := range fields(&Config{}) {
		t.Setenv(f.name, "x")
	}
	if err := envconfig.CheckDisallowed(prefix, &Config{}); err != nil {
		t.Error(err)
	}
}

func TestWrongValuesAreOneSentence(t *testing.T) {
	const takesPoll = "it takes a duration from 10ms to 1h, such as 500ms"
	for _, c := range []struct{ name, value, want string }{
		{"NEXUS_WORKERS", "many", `NEXUS_WORKERS is "many"; it takes a whole number from 0 to 10000`},
		{"NEXUS_WORKERS", "-1", `NEXUS_WORKERS is "-1"; it takes a whole number from 0 to 10000`},
		{"NEXUS_IDLE_POLL_INTERVAL", "500", `NEXUS_IDLE_POLL_INTERVAL is "500"; ` + takesPoll},
		{"NEXUS_IDLE_POLL_INTERVAL", "2h", `NEXUS_IDLE_POLL_INTERVAL is "2h0m0s"; ` + takesPoll},
		{"NEXUS_LEASE", "1ms", `NEXUS_LEASE is "1ms"; it takes a duration from 1s to 12h, such as 30s`},
		{"NEXUS_HANDLER_TIMEOUT", "0", `NEXUS_HANDLER_TIMEOUT is "0s"; it takes a duration from 1ms to 720h, such as 5m, or -1s for none`},
		{"NEXUS_LOG_LEVEL", "loud", `NEXUS_LOG_LEVEL is "loud"; it takes debug, info, warn or error`},
		{"NEXUS_DATABASE_URL", "postgres://me:hunter2@host:port/db", `NEXUS_DATABASE_URL has a value it cannot have; it takes postgres://user@host:5432/database, in whose password @ is written %40, or keyword=value words`},
		{"CORE_BATCH_SIZE", "ten", `CORE_BATCH_SIZE is "ten"; it takes a whole number`},
		{"CORE_BATCH_SIZE", "99999", `CORE_BATCH_SIZE is "99999"; it takes a whole number from 0 to 10000`},
		{"CORE_DATABASE_URL", "postgres://me:hunter2@host:port/db", `CORE_DATABASE_URL has a value it cannot have; it takes postgres://user@host:5432/database, in whose password @ is written %40, or keyword=value words`},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			_, _, err := load(t, map[string]string{c.name: c.value})
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestAliases(t *testing.T) {
	c, warnings, err := load(t, map[string]string{
		"CORE_DATABASE_URL":               "postgres://a@h/d",
		"CORE_NAMESPACE":                  "shop",
		"CORE_NODE_ID":                    "n1",
		"CORE_IDLE_POLL_INTERVAL_MS":      "250",
		"CORE_VISIBILITY_TIMEOUT_SECONDS": "45",
		"CORE_BATCH_SIZE":                 "7",
	})
	if err != nil || len(warnings) != 0 {
		t.Fatal(warnings, err)
	}
	got := []any{c.DatabaseURL, c.Namespace, c.NodeID, c.IdlePollInterval, c.Lease, c.Workers}
	want := []any{"postgres://a@h/d", "shop", "n1", 250 * time.Millisecond, 45 * time.Second, 7}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, s := range c.Settings() {
		if s.Name == "NEXUS_LEASE" && s.Source != "CORE_VISIBILITY_TIMEOUT_SECONDS" {
			t.Errorf("the lease comes from %q", s.Source)
		}
	}
}

func TestNewNameWinsAndSaysSo(t *testing.T) {
	c, warnings, err := load(t, map[string]string{
		"NEXUS_DATABASE_URL": "postgres://me:hunter2@h/d", "CORE_DATABASE_URL": "postgres://me:swordfish@h/d",
		"NEXUS_NAMESPACE": "shop", "CORE_NAMESPACE": "shop",
		"NEXUS_LEASE": "45s", "CORE_VISIBILITY_TIMEOUT_SECONDS": "45",
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.DatabaseURL != "postgres://me:hunter2@h/d" {
		t.Errorf("the database is %s", c.DatabaseURL)
	}
	want := []string{"NEXUS_DATABASE_URL and CORE_DATABASE_URL are both set and differ; NEXUS_DATABASE_URL is used"}
	if d := cmp.Diff(want, warnings); d != "" {
		t.Errorf("warnings: equal values deserve none, and no warning holds a value\n%s", d)
	}
}

func TestUnknownVariables(t *testing.T) {
	_, warnings, err := load(t, map[string]string{
		"NEXUS_DATABSE_URL":    "x",
		"NEXUS_PORT":           "tcp://10.0.0.1:80",
		"NEXUS_SERVICE_HOST":   "10.0.0.1",
		"NEXUS_TEST_SOMETHING": "x",
		"NEXUS_PLATFORM":       "B",
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "NEXUS_DATABSE_URL is set but is not a setting") {
		t.Errorf("warnings are %q", warnings)
	}
}

func TestNeed(t *testing.T) {
	c, _, err := load(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.NeedNamespace(); got == nil || got.Error() != "NEXUS_NAMESPACE is not set; it takes a namespace's name" {
		t.Errorf("a missing namespace is %v", got)
	}
	if c.NeedDatabase() == nil {
		t.Error("a missing database goes unnoticed")
	}
}

// holds: secrets
func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"postgres://u:hunter2@h:5432/d?sslmode=disable": "postgres://u:xxxxx@h:5432/d?sslmode=disable",
		"postgresql://u@h/d?password=hunter2&port=1":    "postgresql://u@h/d?password=xxxxx&port=1",
		"postgres://u:hun%ter2@h/d":                     "xxxxx",
		"host=h password=hunter2 user=u":                "host=h password=xxxxx user=u",
		"host=h password = 'hun ter\\'2' user=u":        "host=h password = xxxxx user=u",
		"sslpassword=hunter2":                           "sslpassword=xxxxx",
		"host=h user=u":                                 "host=h user=u",
		// Only what is known to be harmless is shown.
		"host=h passwd=hunter2":                                           "host=h passwd=xxxxx",
		"host=h options='-c my.secret=hunter2'":                           "host=h options=xxxxx",
		"host=h passfile=/hunter2 sslkey=hunter2 foo=hunter2":             "host=h passfile=xxxxx sslkey=xxxxx foo=xxxxx",
		"postgres://u@h/d?passwd=hunter2&options=hunter2&sslmode=disable": "postgres://u@h/d?passwd=xxxxx&options=xxxxx&sslmode=disable",
		"postgres://u@h/d?PGPASSWORD=hunter2":                             "postgres://u@h/d?PGPASSWORD=xxxxx",
		// What can be read in two ways is hidden whole.
		"host=h password=hun ter2 user=u": "xxxxx", "host=h password='hunter2": "xxxxx", "hunter2": "xxxxx",
		"postgres://u:hun@ter2@h/d": "xxxxx", "postgres://u:hun@t/er2@h/d": "xxxxx", "postgres://u:12/ter2@h/d": "xxxxx",
		"postgres://u:12?ter2@h/d": "xxxxx", "postgres://u:12#ter2@h/d": "xxxxx", "postgres://u:hun%40ter2@h/d": "postgres://u:xxxxx@h/d",
	} {
		if got := Redact(in); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

// A password that stands in a URL as it is would end at its first @ for one reader and at its last for another.
// holds: secrets
func TestPasswordsInURLsAreEscaped(t *testing.T) {
	clean(t)
	for _, in := range []string{
		"postgres://u:hun@ter2@127.0.0.1/d", "postgres://u:hun@t/er2@127.0.0.1/d", "postgres://u:12/ter2@127.0.0.1/d",
		"postgres://u:12?ter2@127.0.0.1/d", "postgres://u:12#ter2@127.0.0.1/d", "postgres://u:hun%ter2@h/d", "host=h password=hun ter2",
	} {
		t.Setenv("NEXUS_DATABASE_URL", in)
		_, _, err := Load()
		if err == nil || strings.Contains(err.Error(), "ter2") || !strings.Contains(err.Error(), "%40") {
			t.Errorf("%s: %v", in, err)
		}
	}
	t.Setenv("NEXUS_DATABASE_URL", "postgres://u:hun%40ter2@127.0.0.1/d?application_name=a@b")
	if _, _, err := Load(); err != nil {
		t.Error(err)
	}
}
