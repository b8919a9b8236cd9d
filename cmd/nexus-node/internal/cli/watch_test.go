package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// until cancels when what was written holds the text so often.
type until struct {
	seen   bytes.Buffer
	text   string
	times  int
	cancel context.CancelFunc
}

func (u *until) Write(p []byte) (int, error) {
	n, err := u.seen.Write(p)
	if strings.Count(u.seen.String(), u.text) >= u.times {
		u.cancel()
	}
	return n, err
}

// holds: completion
func TestQueueListWatch(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	s.as(db, "nexus_reader")
	s.fails(exitUsage, []string{"--interval must be above 0"}, "queue", "list", "--watch", "--interval", "0s")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &until{text: "queue_name ", times: 3, cancel: cancel}
	env := Env{Stdout: out, Stderr: &bytes.Buffer{}, Config: s.config(), Width: func() int { return 120 }}
	if code := Main(ctx, env, []string{"queue", "list", "-n", "shop", "--watch", "--interval", "1ms"}); code != exitOK {
		t.Errorf("exit code %d\n%s", code, env.Stderr)
	}
	if n := strings.Count(out.seen.String(), "\x1b[H\x1b[2J"); n != 3 || strings.Count(out.seen.String(), "core_events_shop  ") != 3 {
		t.Errorf("%d screens:\n%s", n, &out.seen)
	}
}
