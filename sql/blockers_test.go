package nexussql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// Somebody else's open transaction is named, first of all, with who and since when, to a reader who is no superuser.
// holds: P2-status, others-held
func TestBlockersNameWhoHoldsTheHorizon(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec("create role t_horizon login; grant nexus_reader to t_horizon")
	t.Cleanup(func() {
		if _, err := db.Owner.Exec(context.Background(), "drop role t_horizon"); err != nil {
			t.Error(err)
		}
	})
	holder, err := pgx.Connect(t.Context(), db.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(context.Background())
	tx, err := holder.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	var pid int
	if err := tx.QueryRow(t.Context(), "select pg_backend_pid()").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	db.Exec("select core.emit('shop', 'a') from generate_series(1, 3)")

	reader, err := db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Rollback(context.Background())
	if _, err := reader.Exec(t.Context(), "set local role t_horizon"); err != nil {
		t.Fatal(err)
	}
	var first int
	var what string
	err = reader.QueryRow(t.Context(), `select pid, concat_ws(' ', kind, role_name, state, holds_horizon, xmin_age >= 1, since is not null, dead_rows >= 0)
		from core.blockers where pid = $1`, pid).Scan(&first, &what)
	if want := "session " + dbtest.Login + " idle in transaction t t t t"; err != nil || what != want {
		t.Errorf("named as %q, %v; want %q", what, err, want)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	db.Wait(fmt.Sprintf("select not exists (select from core.blockers where pid = %d)", pid))
}

// A transaction that was prepared and forgotten holds it as well, without any session. Where the server has no room for one there
// is none.
func TestBlockersNameReplicationSlots(t *testing.T) {
	db := dbtest.New(t)
	if dbtest.Get[string](db, "select current_setting('wal_level')") != "logical" {
		t.Skip("this server has no logical slots: wal_level is not logical")
	}
	slot := fmt.Sprintf("nexus_test_%d", dbtest.Get[int64](db, "select txid_current()"))
	db.Exec("select pg_create_logical_replication_slot($1, 'pgoutput')", slot)
	t.Cleanup(func() {
		if _, err := db.Owner.Exec(context.Background(), "select pg_drop_replication_slot($1)", slot); err != nil {
			t.Error(err)
		}
	})
	if n := dbtest.Get[int](db, "select count(*)::int from core.blockers where kind = 'replication slot' and name = $1", slot); n != 1 {
		t.Error("the slot is not named")
	}
}

// Of several who want one row the holder is named, and none of those that wait, whatever program they are.
// holds: P3-blockers
func TestBlockersNameTheHolderOfARow(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	const want = "update core.namespaces set metadata = metadata where namespace = 'shop'"
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), db.OwnerURL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return conn
	}
	holder := connect()
	tx, err := holder.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	const waiters = 3
	done := make(chan error, waiters)
	for range waiters {
		conn := connect()
		go func() {
			_, err := conn.Exec(context.Background(), want)
			done <- err
		}()
	}
	db.Wait(`select count(*) = $1 from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`, waiters)
	got := dbtest.Get[string](db, `select string_agg(format('%s: %s', pid, name), '; ') from core.blockers where kind = 'lock'`)
	if name := fmt.Sprintf("%d: ", holder.PgConn().PID()); !strings.HasPrefix(got, name) || strings.Contains(got, ";") || !strings.Contains(got, "waits for core.namespaces") {
		t.Errorf("blockers: %s; want the holder, %s alone", got, name)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range waiters {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// One who has only read a table keeps a lock of it waiting, behind which others wait. The one to end is the first alone: for the lock
// as for the horizon, which it does not hold itself, and although it is outside of what is Nexus's.
func TestBlockersNameTheRootOfAChain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, root, next string }{
		{"of a row", "update core.namespaces set metadata = metadata where namespace = 'shop'", "lock table core.namespaces"},
		{"of a table", "lock table core.namespaces in access share mode", "lock table core.namespaces"},
		{"outside of Nexus", "lock table public.theirs in access share mode", "lock table core.namespaces; lock table public.theirs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.New(t)
			db.Namespace("shop")
			db.Exec("create table public.theirs (i int)")
			connect := func() *pgx.Conn {
				conn, err := pgx.Connect(t.Context(), db.OwnerURL)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = conn.Close(context.Background()) })
				return conn
			}
			root := connect()
			tx, err := root.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), c.root); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 3)
			waiting := 0
			wait := func(sql string) {
				conn := connect()
				go func() {
					_, err := conn.Exec(context.Background(), sql)
					done <- err
				}()
				waiting++
				db.Wait(`select count(distinct l.pid) = $1 from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`, waiting)
			}
			// The lock of the second has something written before, so that it holds the horizon as well.
			wait("begin; select txid_current(); " + c.next + "; commit")
			wait("select core.emit('shop', 'a')")
			wait("select core.emit('shop', 'b')")
			got := dbtest.Get[string](db, `select string_agg(distinct pid::text, ' ') from core.blockers
				where pid in (select a.pid from pg_stat_activity a where a.datname = current_database()) and kind in ('lock', 'session')`)
			if want := fmt.Sprint(root.PgConn().PID()); got != want {
				t.Errorf("blockers are %s, want %s alone", got, want)
			}
			if n := dbtest.Get[int](db, `select count(distinct kind)::int from core.blockers where pid = $1`, root.PgConn().PID()); n != 2 {
				t.Errorf("the root is named in %d of 2 ways, as lock and as session", n)
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			for range waiting {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
		})
	}
}
