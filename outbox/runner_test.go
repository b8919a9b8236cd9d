package outbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
)

// A processor without work asks less and less often, each time after twice as long, until it asks to be called. Whoever had enqueued before that, and
// commits after it, calls nobody, so it begins anew then.
// holds: LN10 (pauses)
func TestWhoIsIdleAsksSeldom(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, nil)
	db.Exec("create table public.looked (n bigint generated always as identity, at timestamptz not null default clock_timestamp())")
	db.Exec("alter function core_node.lanes_due(text, text) rename to lanes_due_uncounted")
	db.Exec(`create function core_node.lanes_due(text, text) returns table (lane_id integer, lane integer) language plpgsql security definer as
		'begin insert into public.looked default values; return query select * from core_node.lanes_due_uncounted($1, $2); end'`)
	db.Exec("grant execute on function core_node.lanes_due(text, text) to public")
	start(t, db, node.Config{Poll: time.Minute}, outbox.Handle("pay", func(context.Context, pgx.Tx, *outbox.Item) error { return nil }))
	db.Wait("select count(*) >= 11 from public.looked")
	// One pause may be cut short by the places, which the runner has only just joined.
	if early := dbtest.Get[[]string](db, `select array(select format('%s: %s ms', n, ms) from (
		select n, 1000 * extract(epoch from at - lag(at) over (order by n)) as ms from public.looked where n <= 7) g where ms < 5 * 2 ^ (n - 1) order by n)`); len(early) > 1 {
		t.Error(early)
	}
	if dbtest.Get[bool](db, "select max(at) - min(at) > '4 seconds' from public.looked where n between 8 and 11") {
		t.Error("who commits after the flag went up waits")
	}
	enqueue(t, db, "pay", "one")
	db.Wait("select seq = 1 from core.lane_status")
}
