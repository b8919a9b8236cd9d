// holds: E3

package db_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/dbtest"
)

func call(ctx context.Context, q nexus.DBTX, sql string, args ...any) error {
	var ignored any
	return db.Call(ctx, q, "op", sql, args, &ignored)
}

func TestRefusalKeepsItsParts(t *testing.T) {
	conn := connect(t, pgx.QueryExecModeCacheStatement)
	raise(t, conn, `raise exception using errcode = 'NX101', message = 'no namespace "x"', column = 'p_namespace',
		detail = 'looked everywhere', hint = 'create it'`)
	err := call(t.Context(), conn, "select pg_temp.refuse()")
	want := &nexus.Error{
		Op: "op", Code: "NX101", Message: `no namespace "x"`, Field: "p_namespace", Detail: "looked everywhere", Hint: "create it",
	}
	got, _ := errors.AsType[*nexus.Error](err)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(nexus.Error{}, "Err")); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != "NX101" {
		t.Errorf("the driver's error is lost: %v", err)
	}
	if db.Unavailable(err) || db.RestartTx(err) {
		t.Error("a refusal is no reason to wait or to try again")
	}
}

// EXECUTE is the first check of the caller, and Postgres says nothing about how it is granted. The transaction it aborted cannot be asked.
func TestMissingRightsNameTheRoleAndTheGrant(t *testing.T) {
	t.Parallel()
	data := dbtest.New(t)
	login, url := data.As("nexus_producer", "nexus_consumer")
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	conn := connectTo(t, url, pgx.QueryExecModeCacheStatement)
	std := stdlib.OpenDBFromPool(pool)
	t.Cleanup(func() { _ = std.Close() })
	for sql, role := range map[string]string{
		"select done from core.replay_dead_letters('{}')":                  "nexus_operator",
		"select core.drop_namespace('shop', 'shop')":                       "nexus_admin",
		"select p::text from core.peek('core_events_shop') p":              "nexus_reader",
		"select dead_letter_id::text from core.unresolved_dead_letters":    "nexus_reader",
		"select dead_letter_id::text from core.dead_letters for key share": "nexus_reader",
	} {
		tx, err := pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for name, q := range map[string]nexus.DBTX{"pool": pool, "conn": conn, "tx": tx, "database/sql": nexus.SQL(std)} {
			err := call(t.Context(), q, sql)
			got, _ := errors.AsType[*nexus.Error](err)
			want := "grant " + role + " to " + login + ";"
			if name == "database/sql" {
				want = "grant " + role + " to the login"
			}
			if got == nil || got.Code != "42501" || !strings.Contains(got.Hint, want) || !strings.Contains(got.Hint, "role "+role) || !errors.Is(err, nexus.ErrForbidden) {
				t.Errorf("%s: %s: %v; want %q", name, sql, err, want)
			}
		}
		_ = tx.Rollback(t.Context())
	}
}

// What is read from the file of grants is what the catalog has.
func TestTheRolesOfFunctionsAreThoseOfTheGrants(t *testing.T) {
	t.Parallel()
	data := dbtest.New(t)
	granted := dbtest.Get[map[string][]string](data, `select json_object_agg(name, roles) from (
		select p.proname as name, array_agg(distinct a.grantee::regrole::text order by a.grantee::regrole::text) as roles
		  from pg_proc p join pg_namespace n on n.oid = p.pronamespace cross join aclexplode(p.proacl) a
		 where n.nspname in ('core', 'core_node', 'core_private') and a.grantee <> p.proowner and a.grantee::regrole::text like 'nexus\_%'
		   and a.grantee::regrole::text not in ('nexus_owner', 'nexus_scheduler', 'nexus_guard')
		 group by p.proname) g`)
	listed := db.Callers()
	if diff := cmp.Diff(granted, listed); diff != "" {
		t.Errorf("(-granted +read):\n%s", diff)
	}
}

func TestVoidFunctionsAreCalled(t *testing.T) {
	for _, mode := range modes {
		conn := connect(t, mode)
		_, err := conn.Exec(t.Context(), `create temp table called (n int);
			create function pg_temp.note(p int) returns void language sql as 'insert into called values (p)'`)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Do(t.Context(), conn, "note", "pg_temp.note($1::int)", 7); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		var n int
		if err := conn.QueryRow(t.Context(), "select n from called").Scan(&n); err != nil || n != 7 {
			t.Errorf("%s: got %d, %v", mode, n, err)
		}
	}
}

// A function of ours that is not there means an older schema; one that a user's trigger misses is the user's matter.
func TestMissingSchemaIsTold(t *testing.T) {
	for _, mode := range modes {
		conn := connect(t, mode)
		for _, sql := range []string{
			"select core.emit('x')", "select pg_temp.nothing_of_the_kind(1)", "select nothing from pg_class",
			"select n from pg_catalog.no_such_view",
		} {
			err := call(t.Context(), conn, sql)
			e, _ := errors.AsType[*nexus.Error](err)
			if !errors.Is(err, nexus.ErrSchema) || e.Code != nexus.CodeSchemaOlder || !strings.Contains(e.Detail, "SQLSTATE") {
				t.Errorf("%s: %s: %v", mode, sql, err)
			}
		}
		raise(t, conn, "perform core.emit('x')")
		if err := call(t.Context(), conn, "select pg_temp.refuse()"); err == nil || errors.Is(err, nexus.ErrSchema) {
			t.Errorf("%s: inside a function: %v", mode, err)
		}
	}
}

func TestContextErrorsPass(t *testing.T) {
	conn := connect(t, pgx.QueryExecModeCacheStatement)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	check := func(name string, err, want error) {
		t.Helper()
		if _, ours := errors.AsType[*nexus.Error](err); ours || !errors.Is(err, want) || db.Unavailable(err) {
			t.Errorf("%s: %v; want %v", name, err, want)
		}
	}
	check("before", call(canceled, conn, "select 1"), context.Canceled)

	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	check("meanwhile", call(short, conn, "select pg_sleep(60)"), context.DeadlineExceeded)
	// The timeout closed the connection. What the same context gets from it now still is the context's end.
	check("after", call(short, conn, "select 1"), context.DeadlineExceeded)
	if err := call(t.Context(), conn, "select 1"); !db.Unavailable(err) {
		t.Errorf("a closed connection under a live context: %v", err)
	}
}

func TestUnavailable(t *testing.T) {
	own := dbtest.New(t).OwnerURL
	killed, other := connectTo(t, own, pgx.QueryExecModeCacheStatement), connectTo(t, own, pgx.QueryExecModeCacheStatement)
	if _, err := other.Exec(t.Context(), "select pg_terminate_backend($1)", killed.PgConn().PID()); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(t.Context(), "create table written (n int)"); err != nil {
		t.Fatal(err)
	}
	standby, err := other.BeginTx(t.Context(), pgx.TxOptions{AccessMode: pgx.ReadOnly})
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"terminated":      call(t.Context(), killed, "select 1"),
		"still away":      call(t.Context(), killed, "select 1"),
		"read-only":       call(t.Context(), standby, "insert into written values (1) returning n"),
		"nobody listens":  dial(t, "127.0.0.1:1", ""),
		"hangs up":        dial(t, listen(t, func(c net.Conn) { c.Close() }), ""),
		"does not answer": dial(t, listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), "&connect_timeout=1"),
		"unknown host":    dial(t, "no-such-host.invalid:1", ""),
		"too many":        &pgconn.PgError{Code: "53300"},
		"starting up":     &pgconn.PgError{Code: "57P03"},
	} {
		if !db.Unavailable(err) {
			t.Errorf("%s: %v", name, err)
		}
		if err := db.Error(t.Context(), "op", err); !errors.Is(err, nexus.ErrUnavailable) || !db.Unavailable(err) {
			t.Errorf("%s, as an error of the module: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"nothing":       nil,
		"canceled":      context.Canceled,
		"timed out":     fmt.Errorf("x: %w", context.DeadlineExceeded),
		"no row":        pgx.ErrNoRows,
		"statement end": &pgconn.PgError{Code: "57014"},
		"wrong login":   &pgconn.PgError{Code: "28P01"},
	} {
		if db.Unavailable(err) {
			t.Errorf("%s counts as unavailable: %v", name, err)
		}
	}
}

func TestRestartTx(t *testing.T) {
	own := dbtest.New(t).OwnerURL
	one, two := connectTo(t, own, pgx.QueryExecModeCacheStatement), connectTo(t, own, pgx.QueryExecModeCacheStatement)
	if _, err := one.Exec(t.Context(), "create table contended (n int); insert into contended values (0)"); err != nil {
		t.Fatal(err)
	}
	tx, err := one.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	if err := call(t.Context(), tx, "select n from contended"); err != nil {
		t.Fatal(err)
	}
	if err := call(t.Context(), two, "update contended set n = 1 returning n"); err != nil {
		t.Fatal(err)
	}
	err = call(t.Context(), tx, "update contended set n = 2 returning n")
	if !errors.Is(err, nexus.ErrRestartTx) || !db.RestartTx(err) || db.Unavailable(err) {
		t.Errorf("a lost race: %v", err)
	}
	if !db.RestartTx(fmt.Errorf("x: %w", &pgconn.PgError{Code: "40P01"})) {
		t.Error("a deadlock, straight from pgx, does not count")
	}
	if db.RestartTx(nil) || db.RestartTx(io.EOF) {
		t.Error("something else counts")
	}
}

func TestOtherErrorsNameTheCall(t *testing.T) {
	conn := connect(t, pgx.QueryExecModeCacheStatement)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = call(t.Context(), tx, "select 1")
	if !errors.Is(err, pgx.ErrTxClosed) || !strings.HasPrefix(err.Error(), "op: ") || db.Unavailable(err) {
		t.Errorf("a closed transaction: %v", err)
	}
}

func raise(t *testing.T, conn *pgx.Conn, statement string) {
	t.Helper()
	_, err := conn.Exec(t.Context(), "create or replace function pg_temp.refuse() returns void language plpgsql as $$ begin "+statement+"; end $$")
	if err != nil {
		t.Fatal(err)
	}
}

func dial(t *testing.T, address, options string) error {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), "postgres://u:p@"+address+"/d?sslmode=disable"+options)
	if err == nil {
		conn.Close(t.Context())
	}
	return err
}

// listen answers every connection on a new port with serve.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return l.Addr().String()
}
