package cli

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// A bulk replay is killed with -9 while the server is at a batch of it, and the same line is run again before that batch has committed. Each dead letter
// is replayed once, all together keep the rate, and both say how far they are.
// holds: DL2 (50,000 by filter in make test-long, the process killed half way)
func TestAReplayKilledHalfWayIsRunAgain(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	n, rate := 3000, 200
	if os.Getenv("NEXUS_TEST_LONG") != "" {
		n = 50_000
	}
	db.Exec(`insert into core.dead_letters (namespace, consumer, event_type, source_kind, source_ref, payload, envelope, attempts, failed_at, reason)
		select 'shop', 'default', 'a', 'delivery', to_jsonb(g), to_jsonb(g), '{"eventType": "a"}', 1, core.now(), 'r' from generate_series(1, $1::int) g`, n)
	// The batch around the middle waits for the holder, as it would for anybody's lock.
	db.Exec(fmt.Sprintf(`create function public.wait_here() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(13, 13); return new; end $$;
		create trigger wait_here before update on core.dead_letters for each row when (new.dead_letter_id = %d) execute function public.wait_here()`, n/2))
	release := db.HoldLock(13, 13)
	replay := func() (*exec.Cmd, fmt.Stringer) {
		cmd, _, stderr := process(t, []string{"NEXUS_DATABASE_URL=" + db.OwnerURL}, "dlq", "replay", "-n", "shop", "--type", "a", "--limit", "0", "--rate", fmt.Sprint(rate))
		return cmd, stderr
	}
	const waits = `select count(*) = $1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`
	killed, said := replay()
	db.Wait(waits, 1)
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	before := (n/2 - 1) / 1000 * 1000
	if before > 0 && !strings.Contains(said.String(), fmt.Sprintf("%d matched", before)) {
		t.Errorf("the killed one said:\n%s", said)
	}
	again, said := replay()
	db.Wait(waits, 2)
	release()
	if code := ends(t, again); code != exitOK || n-before-1000 > 1000 && !strings.Contains(said.String(), fmt.Sprintf("%d matched", (n-before-2000)/1000*1000)) {
		t.Errorf("run again: exit code %d\n%s", code, said)
	}
	const messages = `(select headers, vt as due from pgmq.q_core_events_shop union all select headers, due_at from core.delayed)`
	if got := dbtest.Get[[]int](db, `select array[count(*), count(distinct headers ->> 'nexus-replay-of'), (select count(*) from core.dead_letters where resolution = 'replayed')]::int[]
		from `+messages+` m`); !slices.Equal(got, []int{n, n, n}) {
		t.Errorf("messages, dead letters they are of, dead letters replayed: %v", got)
	}
	most := dbtest.Get[int](db, `select max(n)::int from (select count(*) over (order by due range between interval '1.999 s' preceding and current row) as n from `+messages+` m) w`)
	if most > rate*2+rate/10 {
		t.Errorf("%d are due within two seconds at %d a second", most, rate)
	}
}
