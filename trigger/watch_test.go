package trigger_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/trigger"
)

// A handler in Go gets what becomes of the rows of a table, whoever writes them and how: by COPY and MERGE, too.
// holds: K1, K3, K5, K6
func TestWatchTable(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	ctx := t.Context()
	login, url := db.As("nexus_producer", "nexus_consumer")
	db.Exec("create schema app authorization " + login)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	do := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	do("create table app.orders (id integer primary key, status text)")
	id, err := trigger.WatchTable(ctx, conn, "shop", "app.orders", "rows.orders", &trigger.WatchOptions{Ops: []string{"insert", "update", "delete"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trigger.WatchTable(ctx, conn, "shop", "app.orders", "rows.orders", &trigger.WatchOptions{Emit: true}); !errors.Is(err, nexus.ErrConflict) {
		t.Errorf("otherwise: %v", err)
	}
	if _, err := trigger.WatchTable(ctx, conn, "shop", "pg_class", "rows", nil); !errors.Is(err, nexus.ErrInvalid) {
		t.Errorf("a catalog: %v", err)
	}
	if _, err := trigger.Create(ctx, db.Pool, trigger.Trigger{Namespace: "shop", Name: "rows", Target: "go:rows", KV: &trigger.KV{Collection: "rows.*"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.CopyFrom(ctx, pgx.Identifier{"app", "orders"}, []string{"id", "status"}, pgx.CopyFromRows([][]any{{1, "new"}, {2, "new"}})); err != nil {
		t.Fatal(err)
	}
	want := []string{"insert 1 new", "insert 2 new"}
	if merges := dbtest.Get[int](db, "select current_setting('server_version_num')::int") >= 150000; merges {
		do(`merge into app.orders o using (values (1, 'paid'), (2, null), (3, 'new')) s(id, status) on o.id = s.id
			when matched and s.status is null then delete when matched then update set status = s.status when not matched then insert values (s.id, s.status)`)
		want = append(want, "delete 2 ", "insert 3 new", "update 1 paid")
	}
	var got []string
	n := node.New(db.Pool, node.Config{Namespace: "shop"})
	n.Triggers().On("rows", func(_ context.Context, _ pgx.Tx, d *nexus.Delivery) error {
		var m trigger.Mutation
		var key struct{ ID json.Number }
		var row struct{ Status string }
		if err := errors.Join(json.Unmarshal(d.Payload, &m), json.Unmarshal(m.Key, &key), json.Unmarshal(m.New, &row)); err != nil {
			return err
		}
		got = append(got, strings.Join([]string{m.Op, key.ID.String(), row.Status}, " "))
		return nil
	})
	for range 3 {
		if _, err := n.Work(ctx, 100); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if changed, err := trigger.SwitchWatch(ctx, db.Owner, id, false, "quiet"); err != nil || !changed {
		t.Errorf("off: %v %v", changed, err)
	}
	if err := trigger.UnwatchTable(ctx, conn, "app.orders"); err != nil {
		t.Error(err)
	}
	if err := trigger.UnwatchTable(ctx, conn, "app.orders"); !errors.Is(err, nexus.ErrNotFound) {
		t.Errorf("twice: %v", err)
	}
}

// Watching waits for whoever writes the table, not for ever, and says for whom; watched alike it waits for nobody.
// holds: K6
func TestWatchTableNamesWhoHasIt(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	ctx := t.Context()
	db.Exec("create table public.busy (id integer primary key)")
	tx, err := db.Owner.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "insert into public.busy values (1)"); err != nil {
		t.Fatal(err)
	}
	var pid string
	if err := tx.QueryRow(ctx, "select pg_backend_pid()::text").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	soon := &trigger.WatchOptions{LockTimeout: 10 * time.Millisecond}
	_, err = trigger.WatchTable(ctx, db.Owner, "shop", "public.busy", "rows", soon)
	if err == nil || !strings.Contains(err.Error(), "process "+pid+" of ") {
		t.Errorf("it is in use by %s: %v", pid, err)
	}
	if n := dbtest.Get[int](db, "select count(*)::int from core.watched_tables"); n != 0 {
		t.Errorf("%d watches are left of it", n)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	id, err := trigger.WatchTable(ctx, db.Owner, "shop", "public.busy", "rows", soon)
	if err != nil {
		t.Fatal(err)
	}
	other, err := db.Owner.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Rollback(context.Background()) }()
	if _, err := other.Exec(ctx, "lock table public.busy in share row exclusive mode"); err != nil {
		t.Fatal(err)
	}
	if again, err := trigger.WatchTable(ctx, db.Owner, "shop", "public.busy", "rows", soon); err != nil || again != id {
		t.Errorf("alike: %d %v", again, err)
	}
}
