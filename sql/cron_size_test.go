package nexussql_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

var errUndo = errors.New("undo")

// What is shown of pg_cron is to take 100 ms at most, with the thousand jobs that tasks may have and the runs of some weeks, a third of them somebody
// else's. In time, since pages don't tell what a look computes; with ten times the jobs, more time and the best of some, since the machine does
// other things.
func TestCronViewsAtSize(t *testing.T) {
	t.Parallel()
	db := dbtest.Cron(t)
	err := pgx.BeginFunc(t.Context(), db.Owner, func(tx pgx.Tx) error {
		for _, sql := range []string{
			"set local session_replication_role = replica", // pg_cron is not told
			`insert into cron.job (jobid, schedule, command, nodename, nodeport, database, username, active, jobname)
			 select 1000000 + g, '0 3 1 1 *', 'select 1', 'localhost', 5432, current_database(), 'nexus_scheduler', false, 'ns' || g % 200 || ':' || md5(g::text)
			   from generate_series(1, 10000) g`,
			`insert into cron.job_run_details (jobid, runid, job_pid, database, username, command, status, return_message, start_time, end_time)
			 select 1000001 + g % 10000, 1000000 + g, 1, current_database(), case when g % 3 = 0 then 'somebody' else 'nexus_scheduler' end, 'select 1', 'succeeded', '1 row',
			        now() - interval '1 min' * (200000 - g), now() from generate_series(1, 200000) g`,
			"analyze cron.job", "analyze cron.job_run_details", "set local role nexus_reader",
		} {
			if _, err := tx.Exec(t.Context(), sql); err != nil {
				return err
			}
		}
		for _, sql := range []string{"select from core.cron_jobs", "select from core.cron_job_runs", "select from core.cron_job_runs order by runid desc limit 100"} {
			best := time.Hour
			for range 10 {
				begun := time.Now()
				if _, err := tx.Exec(t.Context(), sql); err != nil {
					return err
				}
				best = min(best, time.Since(begun))
			}
			t.Logf("%s: %s", sql, best)
			if best > 250*time.Millisecond {
				t.Errorf("%s takes %s", sql, best)
			}
		}
		return errUndo
	})
	if !errors.Is(err, errUndo) {
		t.Fatal(err)
	}
}
