package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
	"github.com/nexuspg/nexus/internal/dbtest"
)

// shell runs command lines in this process, as somebody connected to a database of the test's own.
type shell struct {
	t   *testing.T
	cfg config.Config
	env Env
}

// newShell has no database: enough for mistakes and for what needs none.
func newShell(t *testing.T) *shell {
	t.Helper()
	return &shell{t: t, cfg: config.Config{
		ConnectTimeout: 10 * time.Second, LogLevel: "info",
		IdlePollInterval: 50 * time.Millisecond, Lease: 30 * time.Second, Grace: time.Second, HandlerTimeout: time.Minute,
	}}
}

// onDatabase is a shell of the superuser.
func onDatabase(t *testing.T) (*dbtest.DB, *shell) {
	t.Helper()
	db := dbtest.New(t)
	s := newShell(t)
	s.cfg.DatabaseURL = db.OwnerURL
	return db, s
}

type result struct {
	code        int
	out, errors string
}

func (s *shell) run(args ...string) result { return s.runWith("", args...) }

func (s *shell) runWith(stdin string, args ...string) result {
	s.t.Helper()
	var out, errs bytes.Buffer
	env := s.env
	env.Stdin, env.Stdout, env.Stderr, env.Version = strings.NewReader(stdin), &out, &errs, "test"
	if env.Config == nil {
		env.Config = s.config()
	}
	code := Main(s.t.Context(), env, args)
	return result{code, out.String(), errs.String()}
}

// config is what the shell's environment says.
func (s *shell) config() func() (*config.Config, []string, error) {
	return func() (*config.Config, []string, error) {
		c := s.cfg
		return &c, nil, nil
	}
}

// ok runs a command that must succeed.
func (s *shell) ok(args ...string) string {
	s.t.Helper()
	r := s.run(args...)
	if r.code != exitOK {
		s.t.Fatalf("nexus-node %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.errors)
	}
	return r.out
}

// okJSON runs it with -o json and reads what it prints.
func okJSON[T any](s *shell, args ...string) T {
	s.t.Helper()
	out := s.ok(append(args, "-o", "json")...)
	var v T
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		s.t.Fatalf("nexus-node %s prints no JSON of this kind: %v\n%s", strings.Join(args, " "), err, out)
	}
	return v
}

// fails runs a command that must end with the code and say every one of the words on stderr.
func (s *shell) fails(code int, words []string, args ...string) {
	s.t.Helper()
	r := s.run(args...)
	if r.code != code {
		s.t.Errorf("nexus-node %s: exit code %d, want %d\n%s", strings.Join(args, " "), r.code, code, r.errors)
	}
	for _, w := range words {
		if !strings.Contains(r.errors, w) {
			s.t.Errorf("nexus-node %s does not say %q:\n%s", strings.Join(args, " "), w, r.errors)
		}
	}
	if strings.Contains(r.errors, "goroutine ") {
		s.t.Errorf("nexus-node %s shows a stack:\n%s", strings.Join(args, " "), r.errors)
	}
}
