package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/doctor"
)

// holds: doctor-fix
func TestDoctorFix(t *testing.T) {
	db, s := onDatabase(t)
	db.Exec("select core.tick()")
	db.Exec("update core_private.sweeps set failures = 3, last_error = 'boom' where name = 'reap'")
	failing := "select failures from core_private.sweeps where name = 'reap'"
	s.fails(exitUsage, []string{"--fix"}, "doctor", "--dry-run")

	r := s.run("doctor", "--fix", "--dry-run")
	if r.code != exitUsage || !strings.Contains(r.out, "would run  sweeps: select core.run_sweep('reap');") || !strings.Contains(r.out, "reap failed 3 times") {
		t.Errorf("exit code %d\n%s%s", r.code, r.out, r.errors)
	}
	if n := dbtest.Get[int](db, failing); n != 3 {
		t.Errorf("a dry run leaves %d failures", n)
	}
	// Of the superuser and of the cron database it still warns.
	r = s.run("doctor", "--fix")
	if r.code != exitFailed || !strings.Contains(r.out, "ran        sweeps: select core.run_sweep('reap');") || strings.Contains(r.out, "reap failed") {
		t.Errorf("exit code %d\n%s%s", r.code, r.out, r.errors)
	}
	if n := dbtest.Get[int](db, failing); n != 0 {
		t.Errorf("%d failures are left", n)
	}
	if r = s.run("doctor", "--fix"); !strings.HasPrefix(r.out, "nothing to fix without you\n") {
		t.Errorf("the second time:\n%s", r.out)
	}

	db.Exec("update core_private.sweeps set function = 'core.nothing()', failures = 1 where name = 'reap'")
	r = s.run("doctor", "--fix", "-o", "json")
	var got struct {
		Fixes  []doctor.Fixed
		Checks []doctor.Check
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil {
		t.Fatalf("%v\n%s", err, r.out)
	}
	if r.code != exitUsage || len(got.Fixes) != 1 || !strings.Contains(got.Fixes[0].Error, "core.nothing()") || len(got.Checks) < 20 {
		t.Errorf("exit code %d: %+v", r.code, got)
	}
}
