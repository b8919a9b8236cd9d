package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// holds: W10 (its commands), W13 (found by status, name and tag)
func TestWorkflowCommands(t *testing.T) {
	t.Parallel()
	db, s := onDatabase(t)
	db.Namespace("shop")
	db.Exec(`select core_node.register_workflow('shop', 'order', 1, '[{"name": "pay", "kind": "step"}, {"name": "approved", "kind": "signal"}, {"name": "ship", "kind": "step"}]')`)
	def := dbtest.Get[int64](db, "select def_id from core_private.workflow_definitions")
	id := func(out string) string {
		t.Helper()
		var one struct {
			ID string `json:"run_id"`
		}
		if err := json.Unmarshal([]byte(out), &one); err != nil || one.ID == "" {
			t.Fatalf("%v: %s", err, out)
		}
		return one.ID
	}
	run := id(s.run("workflow", "start", "-n", "shop", "order", `{"sku": "tea"}`, "--idempotency-key", "k", "--tag", "vip", "-o", "json").out)
	if r := s.run("workflow", "start", "-n", "shop", "order", `{"sku": "tea"}`, "--idempotency-key", "k"); !strings.Contains(r.out, "was there") || !strings.Contains(r.out, run) {
		t.Errorf("the same again: %s%s", r.out, r.errors)
	}
	if r := s.run("workflow", "start", "-n", "shop", "nothing"); r.code == exitOK || !strings.Contains(r.errors, "nothing") {
		t.Errorf("a workflow that is not there: %s", r.errors)
	}
	for _, timeout := range []string{"0s", "-1s"} {
		if r := s.run("workflow", "start", "-n", "shop", "order", "--timeout", timeout); r.code != exitUsage || !strings.Contains(r.errors, "left out") {
			t.Errorf("a timeout of %s: %s%s", timeout, r.out, r.errors)
		}
	}
	if r := s.run("workflow", "signal", run, "approved", `{"by": "ann"}`); r.code != exitOK || !strings.Contains(r.out, "stored") {
		t.Errorf("signal: %s%s", r.out, r.errors)
	}
	// A node commits the first step, and fails at the last one.
	step := func(call string) string {
		t.Helper()
		return `with c as materialized (select * from core_node.claim_runs('shop', array[` + dbtest.Get[string](db, "select $1::bigint::text", def) + `], 'n', 1, '30 s')) ` + call
	}
	db.Exec(step(`select core_node.commit_steps(array[run_id], '{""}', array[epoch], array[token], array[pos], '{1}', '{pay}', '{"{0}"}', '{7}', array[null]::text[], '{yield}', array[null]::text[]) from c`))
	db.Exec(step(`select core_node.fail_step(run_id, '', epoch, token, pos, 1, 'ship', '{2}', 'reject', p_reason => 'no tea') from c`))
	r := s.run("workflow", "show", run)
	for _, want := range []string{"order", "pay", "completed", "ship", "failed", "no tea", "vip"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("show lacks %q:\n%s", want, r.out)
		}
	}
	var shown struct {
		Run   map[string]any
		Steps []map[string]any
	}
	if err := json.Unmarshal([]byte(s.run("workflow", "show", run, "-o", "json").out), &shown); err != nil || shown.Run["status"] != "failed" || len(shown.Steps) != 3 {
		t.Errorf("%v: %v", err, shown)
	}
	for args, want := range map[string]bool{"--status failed": true, "--status completed": false, "--workflow order": true, "--workflow other": false, "--tag vip": true, "--tag x": false, "--since 1h": true} {
		if r := s.run(append([]string{"workflow", "list", "-n", "shop"}, strings.Fields(args)...)...); strings.Contains(r.out, run) != want || r.code != exitOK {
			t.Errorf("list %s:\n%s%s", args, r.out, r.errors)
		}
	}
	if r := s.run("workflow", "list", "-n", "shop", "--status", "odd"); r.code != exitUsage || !strings.Contains(r.errors, "it takes pending, ") {
		t.Errorf("a status that there is not: %s", r.errors)
	}
	fork := id(s.run("workflow", "fork", run, "ship", "-o", "json").out)
	if r := s.run("workflow", "retry", run); r.code != exitOK || !strings.Contains(r.out, "goes on") {
		t.Errorf("retry: %s%s", r.out, r.errors)
	}
	if r := s.run("workflow", "cancel", run, "--dry-run"); r.code != exitOK || !strings.Contains(r.out, "would be cancelled") {
		t.Errorf("a dry run: %s%s", r.out, r.errors)
	}
	for _, one := range []string{run, fork} {
		if r := s.run("workflow", "cancel", one, "--reason", "test"); r.code != exitOK || !strings.Contains(r.out, "cancelled") {
			t.Errorf("cancel: %s%s", r.out, r.errors)
		}
		if r := s.run("workflow", "cancel", one); r.code == exitOK || !strings.Contains(r.out, "already_finished") {
			t.Errorf("cancel again: %s%s", r.out, r.errors)
		}
	}
	for _, args := range [][]string{{"show"}, {"cancel"}} {
		if r := s.run(append([]string{"workflow"}, append(args, "00000000-0000-7000-8000-000000000000")...)...); r.code == exitOK || !strings.Contains(r.errors, "no run") {
			t.Errorf("%v of no run: %s%s", args, r.out, r.errors)
		}
	}
	if r := s.run("workflow", "show", "x"); r.code != exitUsage {
		t.Errorf("no UUID: %s", r.errors)
	}
	if r := s.run("workflow", "accept", run, "--reason", "x"); r.code != exitOK || !strings.Contains(r.out, "left as it is") {
		t.Errorf("accept: %s%s", r.out, r.errors)
	}
}
