package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus/internal/dbtest"
)

type taskDone struct {
	Task  string `json:"task"`
	State string `json:"state"`
}

func TestTaskWarnings(t *testing.T) {
	_, s := asProducer(t)
	const note = `note: cron expression "0 0 13 * 5": Both day and weekday are restricted`
	for _, args := range [][]string{{"task", "schedule", "friday", "0 0 13 * 5", "x"}, {"task", "next-runs", "--cron", "0 0 13 * 5"}} {
		if r := s.run(args...); r.code != exitOK || !strings.HasPrefix(r.errors, note) || strings.Contains(r.out, "note:") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

func TestTaskVerbs(t *testing.T) {
	db, s := asProducer(t)
	db.SetNow(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	all := []string{
		"task", "add", "close-day", "30 2 * * *", "day.closed", `{"n": 1}`, "--timezone", "europe/berlin", "--misfire", "backfill", "--misfire-after", "5m",
		"--backfill", "3", "--overlap", "queue_one", "--jitter", "10s", "--starts-at", "2030-01-02T00:00:00Z", "--ends-at", "2031-01-01T00:00:00Z",
	}
	if d := cmp.Diff(taskDone{"close-day", "scheduled"}, okJSON[taskDone](s, all...)); d != "" {
		t.Error(d)
	}
	const want = `30 2 * * * day.closed {"n": 1} Europe/Berlin backfill 00:05:00 3 queue_one 00:00:10 2030-01-02 00:00:00 2031-01-01 00:00:00`
	if got := dbtest.Get[string](db, `select concat_ws(' ', cron_expression, event_type, payload, timezone, misfire, misfire_after, backfill, overlap, jitter,
		starts_at at time zone 'UTC', ends_at at time zone 'UTC') from core.scheduled_tasks`); got != want {
		t.Errorf("the task is\n%s, want\n%s", got, want)
	}
	type slot struct {
		Slot     time.Time `json:"slot"`
		Local    string    `json:"local_time"`
		Timezone string    `json:"timezone"`
	}
	first := slot{time.Date(2030, 1, 2, 1, 30, 0, 0, time.UTC), "2030-01-02T02:30:00", "Europe/Berlin"}
	s.cfg.DatabaseURL = db.OwnerURL // a producer may not look at tables
	if got := okJSON[[]slot](s, "task", "next-runs", "close-day", "--count", "2"); len(got) != 2 || !got[0].Slot.Equal(first.Slot) || got[0].Local != first.Local || got[0].Timezone != first.Timezone {
		t.Errorf("next runs: %v, want first %v", got, first)
	}
	if got := okJSON[[]slot](s, "task", "next-runs", "--cron", "30 2 * * *", "--timezone", "Europe/Berlin", "--from", "2026-03-28T12:00:00Z", "--count", "1"); len(got) != 1 || got[0].Local != "2026-03-29T03:30:00" {
		t.Errorf("next run in a gap: %v", got)
	}
	s.cfg.DatabaseURL = db.URL
	for _, step := range [][]string{{"pause", "paused"}, {"resume", "resumed"}, {"run", "run"}, {"run-now", "run"}} {
		if d := cmp.Diff(taskDone{"close-day", step[1]}, okJSON[taskDone](s, "task", step[0], "close-day")); d != "" {
			t.Error(d)
		}
	}
	if n := dbtest.Get[int](db, "select count(*)::int from core.task_runs"); n != 2 {
		t.Errorf("%d runs, want 2", n)
	}
	if d := cmp.Diff(taskDone{"close-day", "would be deleted"}, okJSON[taskDone](s, "task", "delete", "close-day", "--dry-run")); d != "" {
		t.Error(d)
	}
	s.cfg.DatabaseURL = db.OwnerURL
	type listed struct {
		Name   string `json:"name"`
		Active bool   `json:"active"`
	}
	if d := cmp.Diff([]listed{{"close-day", true}}, okJSON[[]listed](s, "task", "list")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(taskDone{"close-day", "deleted"}, okJSON[taskDone](s, "task", "rm", "close-day")); d != "" {
		t.Error(d)
	}
	for args, code := range map[string]int{
		"task pause close-day":                          exitNotFound,
		"task next-runs close-day":                      exitNotFound,
		"task next-runs":                                exitUsage,
		"task next-runs x --cron @daily":                exitUsage,
		"task next-runs --cron @reboot":                 exitUsage,
		"task next-runs --cron @daily --timezone CET":   exitUsage,
		"task schedule a @reboot x":                     exitUsage,
		"task schedule a @daily x --misfire sometimes":  exitUsage,
		"task schedule a @daily x --starts-at tomorrow": exitUsage,
	} {
		if r := s.run(strings.Fields(args)...); r.code != code {
			t.Errorf("%s: exit code %d, want %d: %s", args, r.code, code, r.errors)
		}
	}
}

func TestTaskApply(t *testing.T) {
	db, s := asProducer(t)
	path := filepath.Join(t.TempDir(), "tasks.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	type change struct{ Task, Action, Field, From, To string }
	write(`owner: billing
tasks:
  - name: close-day
    cron: 30 2 * * *
    timezone: Europe/Berlin
    type: day.closed
    payload: {price: 1.10, "list": [true, null, "x"], day: 2026-01-01}
    jitter: 90s
  - {name: ping, cron: "@every 90s", type: ping, starts_at: 2030-01-01T00:00:00Z}
`)
	created := []change{{Task: "shop/close-day", Action: "create", To: "30 2 * * *"}, {Task: "shop/ping", Action: "create", To: "@every 90s"}}
	for _, step := range []struct {
		args []string
		want []change
	}{{[]string{"--dry-run"}, created}, {nil, created}, {nil, []change{}}} {
		if d := cmp.Diff(step.want, okJSON[[]change](s, append([]string{"task", "apply", path}, step.args...)...)); d != "" {
			t.Error(d)
		}
	}
	if got := dbtest.Get[string](db, `select format('%s %s', payload, jitter) from core.scheduled_tasks where name = 'close-day'`); got != `{"day": "2026-01-01", "list": [true, null, "x"], "price": 1.10} 00:01:30` {
		t.Errorf("stored: %s", got)
	}
	write(`{"owner": "billing", "tasks": [{"name": "ping", "cron": "@every 2m", "type": "ping"}]}`)
	want := []change{
		{Task: "shop/close-day", Action: "delete", From: "30 2 * * *"},
		{Task: "shop/ping", Action: "change", Field: "cron_expression", From: "@every 90s", To: "@every 2m"},
		{Task: "shop/ping", Action: "change", Field: "starts_at", From: "2030-01-01T00:00:00+00:00"},
	}
	if d := cmp.Diff(want, okJSON[[]change](s, "task", "apply", path)); d != "" {
		t.Error(d)
	}
	// What is wrong is told with its line, and nothing is stored.
	for text, says := range map[string]string{
		"owner: billing\ntasks:\n  - name: a\n    crn: '@daily'\n": `line 4: there is no key "crn"`,
		"owner: billing\ntask: []\n":                               `line 2: there is no key "task"`,
		"owner: billing\n":                                         `there is no list "tasks"`,
		"owner: billing\ntasks:\n":                                 `there is no list "tasks"`,
		"":                                                         "the file is empty",
		"tasks: []\n":                                              `there is no "owner"`,
		"owner: x\ntasks: []\n---\nowner: y\n":                     "more than one document",
		"owner: billing\ntasks:\n  - name: a\n    cron: '@daily'\n    type: x\n    jitter: 10\n":                                 `line 6: "10" is not a duration`,
		"owner: billing\ntasks:\n  - name: a\n    cron: '@daily'\n    type: x\n    ends_at: soon\n":                              `line 6: "soon" is not a time`,
		"owner: billing\ntasks:\n  - name: a\n    cron: '@daily'\n    type: x\n    payload: {n: 0x10}\n":                         "line 6: write the number 0x10 as JSON does",
		"owner: billing\ntasks:\n  - name: a\n    cron: '@daily'\n    type: x\n\n  - name: b\n    cron: 61 * * * *\n    type: x": "tasks.yaml: line 7: task 'b': cron expression \"61 * * * *\": minute, position 1",
		"owner: billing\ntasks:\n  - name: a\n    cron: '@daily'\n":                                                              "line 3: task 'a': event_type",
	} {
		write(text)
		if r := s.run("task", "apply", path); r.code != exitUsage || !strings.Contains(r.errors, says) {
			t.Errorf("%q: exit code %d\n%s\nwant %s", text, r.code, r.errors, says)
		}
	}
	if got := dbtest.Get[string](db, "select string_agg(name, ' ' order by name) from core.scheduled_tasks"); got != "ping" {
		t.Errorf("tasks are %s", got)
	}
}
