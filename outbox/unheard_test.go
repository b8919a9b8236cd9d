package outbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
)

// A fetch, a claim or a settlement is done, and the connection is cut before the node hears of it. Nothing stands until a lease ends, no attempt is used and
// nothing is done twice.
// holds: LN5 (answers that are lost)
func TestAnswersThatAreLost(t *testing.T) {
	t.Parallel()
	const fetched, settled = "new.token is not null and old.token is null", "new.seq > old.seq"
	ok := func(context.Context, *outbox.Item) error { return nil }
	for name, c := range map[string]struct {
		when string // a change of the lane
		on   func(n *node.Node) node.Service
	}{
		"the first fetch":        {fetched, func(*node.Node) node.Service { return outbox.Handle("pay", note) }},
		"a fetch that settles":   {settled, func(*node.Node) node.Service { return outbox.HandleLeased("pay", ok) }},
		"a commit":               {settled, func(*node.Node) node.Service { return outbox.Handle("pay", note) }},
		"an ordered one's claim": {fetched, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			proxy := db.Proxy()
			pool, err := pgxpool.New(t.Context(), proxy.URL)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(pool.Close)
			n := node.New(pool, node.Config{Namespace: ns, Poll: 20 * time.Millisecond, Lease: 12 * time.Hour})
			if c.on != nil {
				register(t, db, "pay", 1, &outbox.QueueOptions{Retry: nexus.RetryPolicy{MaxAttempts: 1}})
				n.Add(c.on(n))
			} else {
				ledger := n.Subscribe("pay", "*")
				ledger.Lanes, ledger.Retry = 1, nexus.RetryPolicy{MaxAttempts: 1}
				ledger.On("*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
					return note(ctx, tx, &outbox.Item{Message: outbox.Message{Body: d.Payload}, Attempt: d.Attempt})
				})
			}
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- n.Run(ctx) }()
			t.Cleanup(func() {
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
			db.Wait("select exists (select from core.nodes where state = 'active')")

			db.Exec(`create function public.hold() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock(4712); return new; end';
				create trigger hold before update on core_private.lanes for each row when (` + c.when + `) execute function public.hold()`)
			tx, err := db.Owner.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback(context.Background()) }()
			if _, err := tx.Exec(t.Context(), "select pg_advisory_xact_lock(4712)"); err != nil {
				t.Fatal(err)
			}
			if c.on != nil {
				enqueue(t, db, "pay", "1", "2")
			} else {
				db.Exec(`select core.emit('shop', 'a', to_jsonb(g), '{"ordering_key": "k"}') from generate_series(1, 2) g`)
			}
			db.Wait("select exists (select from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database()))")
			proxy.Deafen(true)
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			db.Wait(`select exists (select from core.lane_status where queue = 'pay' and (seq > 0 or locked_by is not null))
				and not exists (select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database()))`)
			db.Exec("drop trigger hold on core_private.lanes")
			proxy.Cut()
			proxy.Deafen(false)

			db.Wait("select exists (select from core.lane_status where queue = 'pay' and seq = 2 and locked_by is null)")
			want := "1/1 2/1"
			if name == "a fetch that settles" {
				want = ""
			}
			if got := dbtest.Get[string](db, "select coalesce(string_agg(body || '/' || attempt, ' ' order by n), '') from public.effect"); got != want {
				t.Errorf("effects %s", got)
			}
			if got := dbtest.Get[string](db, "select concat_ws(' ', (select count(*) from core.dead_letters), (select count(*) from core.delivery_errors))"); got != "0 0" {
				t.Errorf("dead letters and errors: %s", got)
			}
		})
	}
}

// Only who has the token gives a lane back, and nobody does whose lease has ended: he may have been frozen in the middle of it.
// holds: LN5 (answers that are lost)
func TestWhatIsGivenBack(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, &outbox.QueueOptions{Retry: nexus.RetryPolicy{MaxAttempts: 3}})
	enqueue(t, db, "pay", "1")
	const mine = "00000000-0000-7000-8000-000000000001"
	attempt := func() int {
		return dbtest.Get[int](db, "select coalesce((select attempt from core_node.fetch_lane($1, 'n', 1, '10 s', p_next => $2::text::uuid)), 0)", theLane(db), mine)
	}
	back := func(token string) int {
		return dbtest.Get[int](db, "select core_node.give_back_lanes($1, 'pay', array[$2::text::uuid])", ns, token)
	}
	if got := []int{attempt(), back("00000000-0000-7000-8000-000000000002"), attempt(), back(mine), attempt()}; got[0] != 1 || got[1] != 0 || got[2] != 0 || got[3] != 1 || got[4] != 1 {
		t.Errorf("attempts and lanes given back: %v", got)
	}
	db.Advance(time.Minute)
	if got := back(mine); got != 0 {
		t.Error("a lease that has ended was given back")
	}
	if attempt(); dbtest.Get[int](db, "select attempts from core.lane_status") != 1 {
		t.Error("and is no attempt")
	}
}
