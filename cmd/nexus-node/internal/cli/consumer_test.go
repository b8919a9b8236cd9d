package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// Each verb changes what SQL's does, and the list and show say so.
// holds: C1, C3
func TestConsumerVerbs(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	s.cfg.Namespace = "shop"
	db.Exec("select core.emit('shop', 'order.placed') from generate_series(1, 3)")
	stored := func() string {
		t.Helper()
		return dbtest.Get[string](db, `select (patterns, state, retry, unhandled_after, max_in_flight, rate, starts_from, backfill)::text
			from core.consumer_status where consumer = 'mailer'`)
	}
	line := "consumer create mailer --pattern order.placed --pattern user.* --max-in-flight 4 --rate 5/s --unhandled-after 2h --max-attempts 3 --retry-base 1s --from beginning"
	type made struct{ Consumer, State string }
	for _, state := range []string{"created", "exists"} {
		if d := cmp.Diff(made{"mailer", state}, okJSON[made](s, strings.Fields(line)...)); d != "" {
			t.Error(d)
		}
	}
	if got, want := stored(), `("{order.placed,user.*}",active,"{""base"": ""1.000000s"", ""max_attempts"": 3}",02:00:00,4,5/s,beginning,waiting)`; got != want {
		t.Errorf("created %s, want %s", got, want)
	}
	s.fails(exitFailed, []string{"NX212", "from"}, "consumer", "create", "mailer", "--pattern", "order.placed", "--pattern", "user.*", "--from", "now")
	s.ok("consumer", "create", "late", "--pattern", "order.*", "--from", db.Now().Add(-time.Minute).Format(time.RFC3339))
	s.ok("consumer", "create", "young", "--pattern", "order.*", "--from", "now")
	if n := dbtest.Get[int](db, `select count(*)::int from core.consumer_status where starts_from ~ '^[0-9]' and backfill = 'waiting' or starts_from = 'now' and backfill is null`); n != 3 {
		t.Errorf("%d of late, young and default begin where they should", n)
	}

	db.Wait(`select core.run_sweep('backfills') is not null and exists (select from core.consumer_status where consumer = 'mailer' and backfill = 'done')`)
	type shown struct {
		Name      string
		State     string
		Length    int    `json:"queue_length"`
		From      string `json:"starts_from"`
		Backfill  string
		Delivered int `json:"backfill_delivered"`
		Bound     int `json:"backfill_bound"`
	}
	want := shown{"mailer", "active", 3, "beginning", "done", 3, dbtest.Get[int](db, "select max(event_id)::int from core.event_log")}
	if d := cmp.Diff(want, okJSON[shown](s, "consumer", "show", "mailer")); d != "" {
		t.Error(d)
	}
	type row struct{ Name, State, Backfill string }
	var listed []row
	for _, r := range okJSON[[]row](s, "consumer", "list") {
		if r.Name != "late" { // it may still wait
			listed = append(listed, r)
		}
	}
	if d := cmp.Diff([]row{{"default", "active", ""}, {"mailer", "active", "done"}, {"young", "active", ""}}, listed); d != "" {
		t.Error(d)
	}

	for _, c := range []struct{ verb, says, state string }{
		{"pause", "paused", "paused"}, {"pause", "was paused", "paused"}, {"resume", "resumed", "active"}, {"resume", "was active", "active"},
	} {
		if got := okJSON[made](s, "consumer", c.verb, "mailer").State; got != c.says {
			t.Errorf("%s says %q, want %q", c.verb, got, c.says)
		}
		if got := okJSON[row](s, "consumer", "show", "mailer").State; got != c.state {
			t.Errorf("after %s it is %s", c.verb, got)
		}
	}

	alter := strings.Fields("consumer alter mailer --pattern user.* --drop-unmatched --max-in-flight 8 --reset rate --reset unhandled-after --reset retry --backfill beginning")
	before := stored()
	if got := okJSON[altered](s, append(alter, "--dry-run")...); got != (altered{"mailer", "would be altered", 3, true}) || stored() != before {
		t.Errorf("a dry run says %+v and leaves %s", got, stored())
	}
	if got := okJSON[altered](s, alter...); got != (altered{"mailer", "altered", 3, false}) {
		t.Errorf("altered: %+v", got)
	}
	if got, want := stored(), `({user.*},active,{},,8,,beginning,waiting)`; got != want {
		t.Errorf("altered %s, want %s", got, want)
	}
	s.ok("consumer", "alter", "mailer", "--max-attempts", "7")
	if got, want := stored(), `({user.*},active,"{""max_attempts"": 7}",,8,,beginning,waiting)`; got != want {
		t.Errorf("altered %s, want %s", got, want)
	}

	s.fails(exitFailed, []string{"code: NX213", "hint: ", "nexus-node consumer drop -n shop mailer --confirm mailer --force"}, "consumer", "drop", "mailer", "--confirm", "mailer")
	s.ok("consumer", "drop", "mailer", "--confirm", "mailer", "--force", "--dry-run")
	s.ok("consumer", "drop", "mailer", "--confirm", "mailer", "--force")
	if n := dbtest.Get[int](db, `select count(*)::int from core.consumers`); n != 3 {
		t.Errorf("%d consumers are left, want 3", n)
	}
}

// What is refused is told in words of the command line.
// holds: mistakes
func TestConsumerMistakes(t *testing.T) {
	db, s := onDatabase(t)
	db.Namespace("shop")
	s.cfg.Namespace = "shop"
	s.ok("consumer", "create", "mailer", "--pattern", "a.*")
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"create x", exitUsage, "nothing says which events"},
		{"create x --pattern a..b*", exitUsage, "field: --pattern"},
		{"create X --pattern a", exitUsage, "field: NAME"},
		{"create x --pattern a --from yesterday", exitUsage, `--from is "yesterday"; it takes now, beginning, or a time`},
		{"create x --pattern a --from 2999-01-01T00:00:00Z", exitUsage, "field: --from"},
		{"create x --pattern a --rate 5", exitUsage, "field: --rate"},
		{"create x --pattern a --max-in-flight 0", exitUsage, "--max-in-flight is 0"},
		{"create x --pattern a --max-in-flight -1", exitUsage, "field: --max-in-flight"},
		{"create x --pattern a --retry-base 1h --retry-max 1s", exitUsage, "field: --retry-base"},
		{"create mailer --pattern b", exitFailed, "change it with nexus-node consumer alter."},
		{"alter mailer", exitUsage, "nothing says what to change"},
		{"alter mailer --dry-run", exitUsage, "nothing says what to change"},
		{"alter mailer --reset patterns", exitUsage, `--reset is "patterns"; it takes retry, unhandled-after`},
		{"alter mailer --reset rate --rate 5/s", exitUsage, "--reset rate takes back what another flag gives"},
		{"alter mailer --reset retry --max-attempts 5", exitUsage, "--reset retry takes back"},
		{"alter mailer --unhandled-after 0s", exitUsage, "--unhandled-after is 0s"},
		{"alter mailer --backfill now", exitUsage, `--backfill is "now"; it takes beginning, or a time`},
		{"alter nobody --rate 5/s", exitNotFound, "Consumers are listed in nexus-node consumer list."},
		{"pause nobody", exitNotFound, "field: NAME"},
		{"resume nobody", exitNotFound, "field: NAME"},
		{"show nobody", exitNotFound, `no consumer "nobody" in namespace "shop" that you may see`},
		{"drop mailer", exitUsage, `--confirm is missing; it takes the consumer's name once more, "mailer"`},
		{"drop mailer --confirm x --dry-run", exitUsage, `--confirm is "x"`},
		{"drop default --confirm default", exitUsage, "nexus-node namespace alter shop --default-consumer off"},
	} {
		s.fails(c.code, []string{c.want}, append([]string{"consumer"}, strings.Fields(c.line)...)...)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.consumers`); n != 2 {
		t.Errorf("%d consumers, want default and mailer", n)
	}
}
