package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
)

type cronLine struct {
	Kind   string  `json:"kind"`
	JobID  *int64  `json:"jobid"`
	Detail string  `json:"detail"`
	TaskID *string `json:"task_id"`
	Done   string  `json:"done"`
}

// holds: S12-cron
func TestCronDiffAndApply(t *testing.T) {
	db := dbtest.Cron(t)
	s := newShell(t)
	s.cfg.DatabaseURL = db.OwnerURL
	s.ok("cron", "apply")
	if got := okJSON[[]cronLine](s, "cron", "diff"); len(got) != 0 {
		t.Fatalf("in step, and %+v", got)
	}
	db.Namespace("shop")
	db.Exec(`select core.schedule_task('shop', 'daily', '@daily', 'x')`)
	db.Exec(`update cron.job set active = false where jobid = (select job_id from core.scheduled_tasks)`)
	if got := s.run("cron", "diff"); got.code != exitFailed || !strings.Contains(got.out, "deactivated") || !strings.HasPrefix(got.out, "kind ") {
		t.Errorf("diff: %+v", got)
	}
	got := okJSON[[]cronLine](s, "cron", "apply")
	if len(got) != 1 || got[0].Kind != "deactivated" || got[0].Done != "mended" || got[0].TaskID == nil {
		t.Errorf("apply: %+v", got)
	}
	if got := okJSON[[]cronLine](s, "cron", "diff"); len(got) != 0 {
		t.Errorf("mended, and %+v", got)
	}

	t.Cleanup(func() { _, _ = db.Owner.Exec(context.Background(), `delete from cron.job where jobname = 'theirs'`) })
	db.Exec(`select cron.schedule('theirs', '0 0 1 1 *', 'select core.tick()')`)
	for _, verb := range []string{"diff", "apply"} {
		if got := s.run("cron", verb); got.code != exitFailed || !strings.Contains(got.out, "foreign_owner") || !strings.Contains(got.out, "select cron.unschedule(") {
			t.Errorf("%s: %+v", verb, got)
		}
	}
}

func TestCronForOthers(t *testing.T) {
	db, s := onDatabase(t)
	s.cfg.DatabaseURL = db.URL
	s.fails(exitFailed, []string{"permission denied"}, "cron", "apply")
	s.cfg.DatabaseURL = db.OwnerURL
	db.Exec("drop extension if exists pg_cron cascade")
	for _, verb := range []string{"diff", "apply"} {
		if got := s.run("cron", verb, "-o", "json"); got.code != exitOK || strings.TrimSpace(got.out) != "[]" || !strings.Contains(got.errors, "no pg_cron") {
			t.Errorf("%s: %+v", verb, got)
		}
	}
}
