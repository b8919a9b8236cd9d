package node_test

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/pgdev"
	"github.com/nexuspg/nexus/node"
)

// A dump that is restored into another server, whose transaction ids are others: what a node had not read comes to it once, what it had
// read does not, what was emitted there before it came does, and the cursor says what was done.
// holds: RS4 (a dump)
func TestBroadcastsAreRestoredIntoAnotherServer(t *testing.T) {
	t.Parallel()
	platform, err := pgdev.Find()
	if err != nil {
		t.Skip(err)
	}
	ctx := t.Context()
	db := broadcastDB(t)
	var log buffer
	begin := func(pool *pgxpool.Pool) (stop func()) {
		n := node.New(pool, node.Config{Namespace: ns, ID: "one", Logger: slog.New(slog.NewTextHandler(&log, nil))})
		n.Broadcasts().On("*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return note(ctx, tx, "one", d) })
		return start(t, n)
	}
	stop := begin(db.Pool)
	db.Wait("select count(*) = 1 from core.broadcast_cursors")
	broadcast(t, db, "read", 3)
	db.Wait("select count(*) = 3 from public.got")
	stop()
	broadcast(t, db, "unread", 2)

	cluster, err := pgdev.Start(ctx, pgdev.Options{Platform: platform, CronDatabase: "restored"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop(context.Background()) })
	script := `pg_dumpall --roles-only -d "$FROM" | grep -v 'ROLE postgres' | psql -q "$SERVER" >/dev/null 2>&1
psql -q "$SERVER" -c "create database restored"
pg_dump -Fc "$FROM" > dump
pg_restore -d "$TO" dump`
	cmd := platform.Shell(ctx, script, "FROM="+db.OwnerURL, "SERVER="+cluster.URL("postgres"), "TO="+cluster.URL("restored"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	there, err := pgxpool.New(ctx, cluster.URL("restored"))
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	pool := asLogin(t, db.URL, cluster.URL("restored"))
	t.Cleanup(pool.Close)
	if _, err := there.Exec(ctx, `select core.emit('shop', 'new', '1', '{"broadcast": true}')`); err != nil {
		t.Fatal(err)
	}
	begin(pool)
	var got, reason string
	again(t, "what was not read has come", func() error {
		return there.QueryRow(ctx, `select string_agg(b.event_type || ' ' || g.n, ', ' order by b.event_type), min(c.reset_reason)
			from (select event_uid, count(*) as n from public.got group by 1) g join core.broadcasts b using (event_uid), core.broadcast_cursors c
			having count(*) = 6`).Scan(&got, &reason)
	})
	if want := "new 1, read 1, read 1, read 1, unread 1, unread 1"; got != want {
		t.Errorf("handled: %s; want %s", got, want)
	}
	if !strings.Contains(reason, "3 unread broadcasts are kept for it") || !strings.Contains(log.String(), "the cursor over broadcasts was set anew") {
		t.Errorf("reason %q, log %s", reason, log.String())
	}
}

// asLogin is a pool of the same login at another server.
func asLogin(t *testing.T, login, server string) *pgxpool.Pool {
	t.Helper()
	from, err := url.Parse(login)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	to.User = from.User
	pool, err := pgxpool.New(t.Context(), to.String())
	if err != nil {
		t.Fatal(err)
	}
	return pool
}
