package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// holds: K7 (on the command line)
func TestKVVerbs(t *testing.T) {
	t.Parallel()
	db, s := onDatabase(t)
	db.Namespace("shop")
	db.SetNow(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	s.cfg.Namespace = "shop"
	type written struct {
		Key, State string
		Version    *int64
	}
	set := okJSON[written](s, "kv", "set", "settings", "theme", `{"color": "blue", "size": 1.10}`, "--if-absent", "--ttl", "90s")
	if set.Key != "theme" || set.State != "set" || set.Version == nil {
		t.Fatalf("%+v", set)
	}
	type entry struct {
		Key       string
		Value     json.RawMessage
		Version   int64
		ExpiresAt *time.Time `json:"expires_at"`
		UpdatedBy string     `json:"updated_by"`
	}
	got := okJSON[entry](s, "kv", "get", "settings", "theme")
	if got.Key != "theme" || got.Version != *set.Version || got.ExpiresAt == nil || !got.ExpiresAt.Equal(time.Date(2030, 1, 1, 0, 1, 30, 0, time.UTC)) || got.UpdatedBy == "" {
		t.Errorf("%+v", got)
	}
	if out := s.ok("kv", "get", "settings", "theme", "--value"); strings.Join(strings.Fields(out), "") != `{"size":1.10,"color":"blue"}` {
		t.Errorf("the value is %s", out)
	}
	if out := s.ok("kv", "get", "settings", "theme"); !strings.Contains(out, "expires_at  2030-01-01T00:01:30+00:00") {
		t.Errorf("as a table: %s", out)
	}
	// what was not done says so, with the version that stands in the way
	r := s.run("kv", "set", "settings", "theme", "1", "--if-absent", "-o", "json")
	var not written
	if err := json.Unmarshal([]byte(r.out), &not); err != nil || r.code != exitFailed || not.State != "not set" || *not.Version != *set.Version {
		t.Errorf("%d %v %s %s", r.code, err, r.out, r.errors)
	}
	r = s.run("kv", "set", "settings", "other", "1", "--if-present")
	if r.code != exitFailed || r.out != "key      other\nstate    not set\nversion  \n" || !strings.Contains(r.errors, `there is no key "other"`) {
		t.Errorf("%d\n%s%s", r.code, r.out, r.errors)
	}
	s.fails(exitFailed, []string{"has version"}, "kv", "cas", "settings", "theme", "7", "1")
	if r := s.runWith(`"red"`, "kv", "cas", "settings", "theme", fmt.Sprint(*set.Version), "-", "-o", "json"); r.code != exitOK {
		t.Errorf("%d %s", r.code, r.errors)
	}
	s.fails(exitFailed, []string{"has version"}, "kv", "delete", "settings", "theme", "--if-version", fmt.Sprint(*set.Version))
	if out := s.ok("kv", "cas", "settings", "new", "0", "[1]"); !strings.Contains(out, "state    set") {
		t.Errorf("a key that is not there: %s", out)
	}
	// lists
	type listed struct {
		Key   string
		Value json.RawMessage
	}
	if d := cmp.Diff([]listed{{"new", json.RawMessage("[1]")}, {"theme", json.RawMessage(`"red"`)}}, okJSON[[]listed](s, "kv", "list", "settings"), cmp.Transformer("compact", compactJSON)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]listed{{Key: "theme"}}, okJSON[[]listed](s, "kv", "list", "settings", "--prefix", "th", "--keys")); d != "" {
		t.Error(d)
	}
	// delete
	if out := s.ok("kv", "delete", "settings", "new", "--dry-run"); !strings.Contains(out, "would be deleted") {
		t.Errorf("%s", out)
	}
	if out := s.ok("kv", "delete", "settings", "new"); !strings.Contains(out, "state    deleted") {
		t.Errorf("%s", out)
	}
	s.fails(exitNotFound, []string{`there is no key "new" in "settings"`, "nexus-node kv list settings"}, "kv", "delete", "settings", "new")
	s.fails(exitNotFound, []string{`there is no key "new" in "settings"`}, "kv", "get", "settings", "new")
	// mistakes
	s.fails(exitUsage, []string{"VALUE is missing"}, "kv", "set", "settings", "theme")
	s.fails(exitUsage, []string{"given twice"}, "kv", "set", "settings", "theme", "1", "--file", "x")
	s.fails(exitUsage, []string{`"x" is no version`}, "kv", "cas", "settings", "theme", "x", "1")
	s.fails(exitUsage, []string{"NX006", "VERSION cannot be -1"}, "kv", "cas", "--", "settings", "theme", "-1", "1")
	s.fails(exitUsage, []string{"greater than 0"}, "kv", "delete", "settings", "theme", "--if-version", "0")
	s.fails(exitUsage, []string{"NX016", "field: KEY"}, "kv", "get", "settings", "a\nb")
	s.fails(exitUsage, []string{"NX016", "field: COLLECTION"}, "kv", "set", "a b", "k", "1")
	s.fails(exitUsage, []string{"NX003", "VALUE is not valid JSON"}, "kv", "set", "settings", "theme", "blue")
	s.fails(exitUsage, []string{"NX005", "--ttl"}, "kv", "set", "settings", "theme", "1", "--ttl", "-1s")
}

func compactJSON(raw json.RawMessage) string { return strings.Join(strings.Fields(string(raw)), "") }
