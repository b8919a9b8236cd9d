package outbox_test

import (
	"context"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/doctor"
	"github.com/nexuspg/nexus/internal/pgdev"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
)

// holds: LN3 (dump and restore)
// A dump is restored into another server, and one of that into the first one (NEXUS_TEST_LONG), so that transaction ids are greater once and smaller
// once. Nothing is handed out and doctor says why, until the lanes are rebased; then each message that was committed is handled once, whatever was in hand, late or new.
// holds: others-restore (lanes)
func TestDumpedAndRestored(t *testing.T) {
	t.Parallel()
	platform, err := pgdev.Find()
	if err != nil {
		t.Skip(err)
	}
	db := newDB(t)
	register(t, db, "pay", 1, nil)
	late, err := db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = late.Rollback(context.Background()) }()
	if _, err := outbox.Enqueue(t.Context(), late, ns, outbox.Message{Queue: "pay", Key: "one", Type: "t", Body: []byte("late")}); err != nil {
		t.Fatal(err)
	}
	enqueue(t, db, "pay", numbers(6)...)
	work(t, db.Pool, 3)
	db.Exec("select * from core_node.fetch_lane($1, 'dead', 1, '1 h')", theLane(db)) // in hand
	if err := late.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	enqueue(t, db, "pay", "after")

	cluster, err := pgdev.Start(t.Context(), pgdev.Options{Platform: platform, CronDatabase: "restored"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop(context.Background()) })
	there := restore(t, platform, db.OwnerURL, cluster.URL("postgres"), "restored")
	ahead := transaction(t, there) > transaction(t, db.Owner)
	goesOn(t, db, there, "there", "1 2 3 4 5 6 late after there")

	if os.Getenv("NEXUS_TEST_LONG") == "" {
		return
	}
	if ahead { // the restore and what runs beside would have the first server overtake it
		for to := transaction(t, db.Owner) + 100_000; transaction(t, there) < to; {
			if _, err := there.Exec(t.Context(), "do $$ begin for n in 1 .. 10000 loop perform pg_current_xact_id(); commit; end loop; end $$"); err != nil {
				t.Fatal(err)
			}
		}
		enqueue(t, &dbtest.DB{Owner: there}, "pay", "far")
		work(t, there, 1)
	}
	if _, err := outbox.Enqueue(t.Context(), there, ns, outbox.Message{Queue: "pay", Key: "one", Type: "t", Body: []byte("more")}); err != nil {
		t.Fatal(err)
	}
	name := "back_" + dbtest.Get[string](db, "select current_database()")
	t.Cleanup(func() {
		if _, err := db.Owner.Exec(context.Background(), "drop database if exists "+pgx.Identifier{name}.Sanitize()+" with (force)"); err != nil {
			t.Error(err)
		}
	})
	back := restore(t, platform, cluster.URL("restored"), db.OwnerURL, name)
	if transaction(t, there) > transaction(t, back) != ahead {
		t.Error("one server has overtaken the other meanwhile, and both dumps went the same way")
	}
	far := ""
	if ahead {
		far = "far "
	}
	goesOn(t, db, back, "back", "1 2 3 4 5 6 late after there "+far+"more back")
}

// transaction is where a server is.
func transaction(t *testing.T, pool *pgxpool.Pool) (xid int64) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint").Scan(&xid); err != nil {
		t.Fatal(err)
	}
	return xid
}

// work has a node do up to so much.
func work(t *testing.T, pool *pgxpool.Pool, most int) {
	t.Helper()
	n := node.New(pool, node.Config{Namespace: ns, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	n.Add(outbox.Handle("pay", note))
	if _, err := n.Work(t.Context(), most); err != nil {
		t.Fatal(err)
	}
}

// restore copies a database to another server.
func restore(t *testing.T, platform pgdev.Platform, from, server, name string) *pgxpool.Pool {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	to.Path = "/" + name
	cmd := platform.Shell(t.Context(), `pg_dumpall --roles-only -d "$FROM" | grep -v 'ROLE postgres' | psql -q "$SERVER" >/dev/null 2>&1
psql -q "$SERVER" -c "create database \"$NAME\""
pg_dump -Fc --extension=pgmq --extension=plpgsql "$FROM" > dump
pg_restore -d "$TO" dump`, "FROM="+from, "SERVER="+server, "TO="+to.String(), "NAME="+name)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pool, err := pgxpool.New(t.Context(), to.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// goesOn has the lanes of a restored database go on, with one more message from before they did.
func goesOn(t *testing.T, db *dbtest.DB, pool *pgxpool.Pool, body, want string) {
	t.Helper()
	ctx := t.Context()
	if _, err := outbox.Enqueue(ctx, pool, ns, outbox.Message{Queue: "pay", Key: "one", Type: "t", Body: []byte(body)}); err != nil {
		t.Fatal(err)
	}
	_, err := pool.Exec(ctx, "select core_node.fetch_lane($1, 'n', 10, '10 s')", theLane(db))
	if err == nil || !strings.Contains(err.Error(), "NX509") {
		t.Fatalf("before the lanes were rebased: %v", err)
	}
	checks, err := doctor.Run(ctx, pool)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if c.Name == "lanes" && (c.State != doctor.Broken || !strings.Contains(c.Found, "shop/pay was restored from another server")) {
			t.Errorf("doctor says %s: %s", c.State, c.Found)
		}
	}
	if n, err := outbox.Rebase(ctx, pool); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	work(t, pool, 1000)
	var got string
	if err := pool.QueryRow(ctx, inOrder).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
