package nexussql_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// What a watch costs who updates 100,000 rows in one statement, and who updates rows one by one: bare, watched where no trigger matches, and where one does.
// Each is a table of its own, and the rounds take turns.
// holds: K2 (the overhead a row)
func TestWhatAWatchCosts(t *testing.T) {
	if os.Getenv("NEXUS_TEST_LONG") == "" {
		t.Skip("updates 100,000 rows in nine rounds, which takes a minute: make test-long sets NEXUS_TEST_LONG")
	}
	db := dbtest.New(t)
	db.Namespace("shop")
	kinds := []string{"bare", "unmatched", "matched"}
	for _, k := range kinds {
		db.Exec(`create table public.`+k+` (id integer primary key, name text not null, amount numeric(12,2) not null, made_at timestamptz not null, n integer not null) with (fillfactor = 50, autovacuum_enabled = off);
			insert into public.`+k+` select g, 'name ' || g, g, now(), 0 from generate_series(1, 100000) g`, pgx.QueryExecModeSimpleProtocol)
		db.Exec(`vacuum analyze public.` + k)
		if k != "bare" {
			db.Exec(`select core.watch_table('shop', $1::text::regclass, $2)`, "public."+k, k)
		}
	}
	db.Exec(`select core.create_trigger('shop', 'one', '{"kv": {"collection": "matched"}}', 'go:mail'), core.create_trigger('shop', 'other', '{"kv": {"collection": "another"}}', 'go:mail')`)
	bulk, single := map[string][]float64{}, map[string][]float64{}
	conn := open(t, db)
	does(t, conn, `set synchronous_commit = off`)
	// The processor's time of the server's process, since the machine has other work.
	used := func() float64 {
		t.Helper()
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", conn.PgConn().PID()))
		if err != nil {
			t.Skip("the kernel does not tell the processor time of the server: ", err)
		}
		ns, err := strconv.ParseFloat(strings.Fields(string(text))[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		return ns / 1000
	}
	const rows, ones = 100_000, 2000
	for range 3 {
		for _, k := range kinds {
			before := used()
			does(t, conn, `update public.`+k+` set n = n + 1`)
			bulk[k] = append(bulk[k], (used()-before)/rows)
			does(t, conn, `vacuum public.`+k)
			before = used()
			for i := range ones {
				if _, err := conn.Conn.Exec(t.Context(), `update public.`+k+` set n = n + 1 where id = $1`, i+1); err != nil {
					t.Fatal(err)
				}
			}
			single[k] = append(single[k], (used()-before)/ones)
			does(t, conn, `vacuum public.`+k)
		}
	}
	for _, k := range kinds {
		t.Logf("%-9s a row of 100,000: %6.2f µs, %.2f of bare; a statement of one row: %4.0f µs, %.2f", k,
			slices.Min(bulk[k]), slices.Min(bulk[k])/slices.Min(bulk["bare"]), slices.Min(single[k]), slices.Min(single[k])/slices.Min(single["bare"]))
	}
	if got := slices.Min(bulk["unmatched"]) / slices.Min(bulk["bare"]); got > 2 {
		t.Errorf("an update that matches nothing costs %.2f of a bare one", got)
	}
	if got := dbtest.Get[int](db, `select count(*)::int from core.event_log where event_type = 'kv.matched.update'`); got != 3*(rows+ones) {
		t.Errorf("%d mutations", got)
	}
}
