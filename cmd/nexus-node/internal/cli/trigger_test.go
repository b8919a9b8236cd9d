package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// holds: T3, T6, T13
func TestTriggers(t *testing.T) {
	t.Parallel()
	db, s := onDatabase(t)
	db.Namespace("shop")
	t.Log(db.URL)
	type made struct{ Trigger, Handler, State, Secret string }
	s.ok("trigger", "create", "-n", "shop", "mail", "order.*", "go:mail", "--contains", `{"a": 1}`, "--max-attempts", "5")
	s.ok("trigger", "create", "-n", "shop", "mail", "order.*", "go:mail", "--contains", `{"a": 1}`, "--max-attempts", "5")
	s.fails(exitFailed, []string{"NX212"}, "trigger", "create", "-n", "shop", "mail", "order.*", "go:other")
	s.fails(exitUsage, []string{"--contains is not valid JSON"}, "trigger", "create", "-n", "shop", "x", "a", "go:a", "--contains", "{")
	s.fails(exitNotFound, []string{"NX111"}, "trigger", "create", "-n", "shop", "x", "a", "sql:none")
	s.ok("trigger", "create", "-n", "shop", "mail", "order.*", "go:other", "--replace", "--disabled")
	type verdict struct {
		Name, Target string
		Fires        bool
		Why          string
	}
	if d := cmp.Diff([]verdict{{"mail", "go:other", false, "disabled"}}, okJSON[[]verdict](s, "trigger", "test", "-n", "shop", "order.made")); d != "" {
		t.Error(d)
	}
	for _, state := range []string{"enabled", "was enabled"} {
		if d := cmp.Diff(made{Trigger: "mail", State: state}, okJSON[made](s, "trigger", "enable", "-n", "shop", "mail")); d != "" {
			t.Error(d)
		}
	}
	db.Exec("select core.emit('shop', 'order.made')")
	type counted struct {
		Name, Target  string
		Fires, Events int
		Why           string
	}
	if d := cmp.Diff([]counted{{"mail", "go:other", 0, 1, "no live node handles the target"}}, okJSON[[]counted](s, "trigger", "test", "-n", "shop", "--since", "24h")); d != "" {
		t.Error(d)
	}
	type keyed struct {
		Key, Runs string
		Triggers  int
		Nodes     []string
	}
	s.ok("handler", "create", "-n", "shop", "webhook:till", "--url", "https://till.example/in")
	db.Exec(`select core_node.register_node('shop', 'till-1', true, '{go:other}', '{}', '{triggers}')`)
	if d := cmp.Diff([]keyed{{"go:mail", "", 0, []string{}}, {"go:other", "", 1, []string{"till-1"}}, {"webhook:till", "https://till.example/in", 0, []string{}}},
		okJSON[[]keyed](s, "handler", "list", "-n", "shop", "--keys")); d != "" {
		t.Error(d)
	}
	s.ok("handler", "drop", "-n", "shop", "webhook:till")
	db.Exec(`update core.nodes set state = 'lost'`)
	for _, args := range [][]string{{}, {"order.made", "--since", "24h"}, {"--since", "24h", "-f", "-"}, {"--since", "soon"}} {
		s.fails(exitUsage, []string{"since"}, append([]string{"trigger", "test", "-n", "shop"}, args...)...)
	}
	type shown struct {
		Name, Kind, Target string
		Source             struct{ Pattern string }
		Enabled, Handled   bool
	}
	want := shown{"mail", "event", "go:other", struct{ Pattern string }{"order.*"}, true, false}
	if d := cmp.Diff([]shown{want}, okJSON[[]shown](s, "trigger", "list", "-n", "shop")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, okJSON[shown](s, "trigger", "show", "-n", "shop", "mail")); d != "" {
		t.Error(d)
	}
	s.fails(exitNotFound, []string{`no trigger "none"`}, "trigger", "show", "-n", "shop", "none")
	s.fails(exitFailed, []string{"NX223"}, "handler", "drop", "-n", "shop", "go:other")
	s.ok("trigger", "disable", "-n", "shop", "mail")
	s.ok("trigger", "disable", "-n", "shop", "mail", "--hold")
	if held := dbtest.Get[int](db, "select count(*)::int from core.delayed where due_at = 'infinity'"); held != 1 {
		t.Errorf("%d deliveries are held", held)
	}
	s.fails(exitUsage, []string{"NX006", "FROM"}, "trigger", "hand-over", "-n", "shop", "nobody", "nexus_operator")
	for _, want := range []string{"3", "0"} {
		if d := cmp.Diff("handed over "+want+" triggers and handlers", okJSON[struct{ State string }](s, "trigger", "hand-over", "-n", "", dbtest.Get[string](db, "select user::text"), "nexus_operator").State); d != "" {
			t.Error(d)
		}
	}
	type door struct{ Trigger, Token string }
	if d := okJSON[door](s, "trigger", "create", "-n", "shop", "door", "go:door", "--source", `{"http": {"method": "GET", "path": "/door/{id}", "timeout": "2s"}}`, "--sync"); len(d.Token) < 50 {
		t.Errorf("the token that was made: %+v", d)
	}
	if d := okJSON[door](s, "trigger", "create", "-n", "shop", "mine", "go:door", "--source", `{"http": {"method": "GET", "path": "/mine", "token": "mine"}}`); d.Token != "" {
		t.Errorf("a token that was given: %+v", d)
	}
	s.fails(exitFailed, []string{"NX212", "door"}, "trigger", "create", "-n", "shop", "window", "go:door", "--source", `{"http": {"method": "GET", "path": "/door/{key}", "public": true}}`)
	if got := dbtest.Get[string](db, "select mode || source::text from core.trigger_status where name = 'door'"); got != `sync{"path": "/door/{id}", "method": "GET", "timeout": "00:00:02"}` {
		t.Error(got)
	}
	s.ok("trigger", "delete", "-n", "shop", "door")
	s.ok("trigger", "delete", "-n", "shop", "mine")
	s.ok("trigger", "delete", "-n", "shop", "mail", "--dry-run")
	if d := cmp.Diff(made{Trigger: "mail", State: "deleted with 1 deliveries"}, okJSON[made](s, "trigger", "delete", "-n", "shop", "mail")); d != "" {
		t.Error(d)
	}
	s.fails(exitNotFound, []string{"NX114"}, "trigger", "delete", "-n", "shop", "mail")
	if m := okJSON[made](s, "handler", "create", "-n", "shop", "webhook:crm", "--url", "https://a.example/in"); len(m.Secret) < 30 || m.State != "created" {
		t.Errorf("%+v", m)
	}
	if d := cmp.Diff(made{Handler: "webhook:crm", State: "was there"}, okJSON[made](s, "handler", "create", "-n", "shop", "webhook:crm", "--url", "https://a.example/in")); d != "" {
		t.Error(d)
	}
	for _, state := range []string{"dropped", "is not there"} {
		if d := cmp.Diff(made{Handler: "webhook:crm", State: state}, okJSON[made](s, "handler", "drop", "-n", "shop", "webhook:crm")); d != "" {
			t.Error(d)
		}
	}
}
