package nexussql_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// With thousands of namespaces in a database no sweep takes more locks than one transaction may without crowding others out, each goes on
// where it ended, and delayed events come in time. `make test-long` makes 2,000, which takes minutes on a busy machine; the 400 of the
// ordinary suite are enough for a sweep without bounds to hold too many locks.
// holds: P3-namespaces (400 of them; 2,000 in `make test-long`)
func TestManyNamespaces(t *testing.T) {
	if testing.Short() {
		t.Skip("makes hundreds of namespaces")
	}
	many := 400
	if s := os.Getenv("NEXUS_TEST_NAMESPACES"); s != "" {
		many, _ = strconv.Atoi(s)
	}
	const most = 2500 // locks of one transaction; the lock table has room for 6,400 in all, unless it is enlarged
	db := dbtest.New(t)
	for from := 1; from <= many; from += 50 {
		// In one transaction these would take all the locks there are.
		db.Exec(`select core.create_namespace('ns' || g) from generate_series($1::int, $2::int) g`, from, min(from+49, many))
		db.Exec(`select core.emit('ns' || g, 'x', '1', '{"delay": "1 s"}') from generate_series($1::int, $2::int) g`, from, min(from+49, many))
		db.Exec(`select core.schedule_event('ns' || g, 'once', '1', core.now() + '1 s') from generate_series($1::int, $2::int) g`, from, min(from+49, many))
		db.Exec(`select pgmq.send('core_events_ns' || g, '{"eventType": "far"}'::jsonb, 864000) from generate_series($1::int, $2::int) g`, from, min(from+49, many))
	}
	db.Advance(10 * time.Second)
	// call runs a statement alone in a transaction and returns its number and the locks it holds at its end.
	call := func(sql string) (n, locks int) {
		t.Helper()
		err := pgx.BeginFunc(t.Context(), db.Owner, func(tx pgx.Tx) error {
			if err := tx.QueryRow(t.Context(), sql).Scan(&n); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
			return tx.QueryRow(t.Context(), `select count(*) from pg_locks where pid = pg_backend_pid()`).Scan(&locks)
		})
		if err != nil {
			t.Fatal(err)
		}
		if locks > most {
			t.Errorf("%s holds %d locks", sql, locks)
		}
		return n, locks
	}
	until := func(what, sql string, want, calls int) {
		t.Helper()
		done, most := 0, 0
		n := 0
		for ; done < want && n < calls; n++ {
			moved, locks := call(sql)
			done, most = done+moved, max(most, locks)
			db.Advance(10 * time.Second)
		}
		t.Logf("%s: %d in %d calls, at most %d locks", what, done, n, most)
		if done < want {
			t.Errorf("%s: %d of %d after %d calls", what, done, want, n)
		}
	}
	until("promoted", "select core_node.promote_delayed(1000)", many, many/100+1)
	until("emitted", "select core.fire_due_events(10000)", many, many/100+1)
	// Which queues hold something the statistics may not know yet: then all have their turn within 64 calls.
	until("set aside", "select core_private.set_aside()", many, 64+many/100)
	if n, locks := call("select count(*)::int from core.queue_metrics"); n != 2*many || locks > 200 {
		t.Errorf("queue_metrics has %d rows, want %d, and holds %d locks", n, 2*many, locks)
	}
	if n, locks := call("select sum(queue_length)::int from core.queue_metrics"); n != 2*many {
		t.Errorf("queue_metrics counts %d messages, want %d, with %d locks", n, 2*many, locks)
	}
	db.Exec(`select core_node.register_node('ns' || g, 'n' || g, true, '{nothing}') from generate_series(1, $1::int) g`, min(many, 400))
	until("parked", `select (core_private.park_unhandled() ->> 'parked')::int`, 2*min(many, 400), 60)
	for range 3 {
		db.Exec("update core_private.sweeps set last_started_at = null where driven_by = 'tick'")
		call("select jsonb_array_length(core.tick() -> 'ran')")
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.sweep_status where last_error is not null`); n > 0 {
		t.Errorf("%d sweeps failed: %s", n, dbtest.Get[string](db, `select string_agg(name || ': ' || last_error, ', ') from core.sweep_status where last_error is not null`))
	}
}
