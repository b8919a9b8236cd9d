package deadletter_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/deadletter"
	"github.com/nexuspg/nexus/internal/dbtest"
)

// A replay by filter whose session is killed in the midst of a batch has done the batches before it. The same call does the rest: each dead
// letter is replayed once, and both together keep the rate.
// holds: DL2 (50,000 by filter in make test-long, killed half way)
func TestABulkReplayIsKilledHalfWay(t *testing.T) {
	t.Parallel()
	db := newDB(t, "shop")
	n, rate := 4000, 200.0
	if os.Getenv("NEXUS_TEST_LONG") != "" {
		n = 50_000
	}
	db.Exec(`insert into core.dead_letters (namespace, consumer, event_type, source_kind, source_ref, payload, envelope, attempts, failed_at, reason)
		select 'shop', 'default', 'a', 'delivery', to_jsonb(g), to_jsonb(g), '{"eventType": "a"}', 1, core.now(), 'r' from generate_series(1, $1::int) g`, n)
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), db.OwnerURL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return conn
	}
	filter, opts := deadletter.Filter{Namespace: "shop", Type: "a"}, &deadletter.ReplayOptions{Rate: rate}

	// Somebody holds the batch up that follows half of them, so that it is killed while it is at work.
	victim, holder, killed := connect(), connect(), make(chan struct{})
	_, err := deadletter.ReplayAll(t.Context(), victim, filter, opts, func(r deadletter.Result) {
		if r.Done != n/2 {
			return
		}
		if _, err := holder.Exec(t.Context(), `begin; lock table core.delayed in share mode`); err != nil {
			t.Error(err)
		}
		go func() {
			defer close(killed)
			db.Wait(`select exists (select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock')`, victim.PgConn().PID())
			db.Exec(`select pg_terminate_backend($1, 10000)`, victim.PgConn().PID())
		}()
	})
	if err == nil {
		t.Fatal("a replay whose session was killed is well")
	}
	<-killed
	if _, err := holder.Exec(t.Context(), `rollback`); err != nil {
		t.Fatal(err)
	}
	const messages = `(select headers, vt as due from pgmq.q_core_events_shop union all select headers, due_at from core.delayed)`
	if got := dbtest.Get[int](db, `select count(*)::int from `+messages+` m`); got != n/2 || len(resolutions(t, db)) != n/2 {
		t.Errorf("killed after %d, and %d are replayed, %d delivered", n/2, len(resolutions(t, db)), got)
	}

	var heard []int
	r, err := deadletter.ReplayAll(t.Context(), connect(), filter, opts, func(r deadletter.Result) { heard = append(heard, r.Done) })
	if err != nil || r.Done != n-n/2 || r.Skipped != 0 {
		t.Fatalf("the rest: %+v, %v", r, err)
	}
	if len(heard) != n/2/1000 || !slices.IsSorted(heard) || heard[len(heard)-1] != n-n/2 {
		t.Errorf("heard %v", heard)
	}
	if got := dbtest.Get[[]int](db, `select array[count(*), count(distinct headers ->> 'nexus-replay-of')]::int[] from `+messages+` m`); !slices.Equal(got, []int{n, n}) {
		t.Errorf("messages, and dead letters they are of: %v", got)
	}
	most := dbtest.Get[int](db, `select max(n)::int from (select count(*) over (order by due range between interval '1.999 s' preceding and current row) as n from `+messages+` m) w`)
	if most > int(2*rate*1.1) {
		t.Errorf("%d are due within two seconds at %v a second", most, rate)
	}
}
