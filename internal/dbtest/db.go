package dbtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/pgdev"
	"github.com/nexuspg/nexus/migrate"
)

// DB is a database with Nexus in it.
type DB struct {
	URL      string        // of the ordinary login
	OwnerURL string        // of a superuser
	Pool     *pgxpool.Pool // as the ordinary login
	Owner    *pgxpool.Pool // as a superuser
	t        testing.TB
}

var serial atomic.Int64

const clonePrefix = "nexus_test_"

// New clones the template; the database is dropped when t ends. Its clock can be moved.
func New(t testing.TB) *DB {
	t.Helper()
	server := URL(t)
	name := fmt.Sprintf("%s%d_%d_%d", clonePrefix, os.Getpid(), time.Now().UnixNano()%1e12, serial.Add(1))
	admin(t, server, "create database "+name+" template "+pgdev.TemplateDatabase+" strategy file_copy")
	t.Cleanup(func() { admin(t, server, "drop database if exists "+name+" with (force)") })
	db := open(t, server, name)
	if err := replaceClock(t.Context(), db.Owner); err != nil {
		t.Fatalf("replace the clock: %v", err)
	}
	return db
}

// Cron lends the one database in which pg_cron fires, with the real clock and no namespaces. No sweep keeps its jobs in step. Tests
// that use it run one after the other, over all packages.
func Cron(t testing.TB) *DB {
	t.Helper()
	server := URL(t)
	conn, err := pgx.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), "select pg_advisory_lock(hashtext('nexus dbtest cron'))"); err != nil {
		t.Fatal(err)
	}
	var there bool
	err = conn.QueryRow(t.Context(), "select exists (select from pg_database where datname = $1)", pgdev.TestCronDatabase).Scan(&there)
	if err != nil {
		t.Fatal(err)
	}
	if !there {
		t.Skip("this server has no database " + pgdev.TestCronDatabase + " in which pg_cron fires; use `make test`")
	}
	db := open(t, server, pgdev.TestCronDatabase)
	if _, err := migrate.Up(t.Context(), db.Owner, nil); err != nil {
		t.Fatalf("bring %s up to date: %v", pgdev.TestCronDatabase, err)
	}
	// Tests put jobs out of step and look. The sweep of pg_cron's own tick, which would mend them first, is not due for a day; a tick
	// under way may have it on its list still.
	db.Exec(`select from core_private.locks where name = 'tick' for update;
		update core_private.sweeps set every = '1 day', last_started_at = core.now() where name = 'cron'`)
	db.Exec("select core.drop_namespace(namespace, namespace, true) from core.namespaces")
	return db
}

func open(t testing.TB, server, name string) *DB {
	t.Helper()
	db := &DB{
		URL:      with(server, name, url.UserPassword(Login, loginPassword)),
		OwnerURL: with(server, name, nil),
		t:        t,
	}
	db.Pool = pool(t, db.URL)
	db.Owner = pool(t, db.OwnerURL)
	return db
}

// Keep lets Keeper create what it wants in the database, which it is given for that, and returns its URL.
func (db *DB) Keep() string {
	db.t.Helper()
	db.Exec("do $$ begin execute format('grant create, temporary on database %I to " + Keeper + "', current_database()); end $$")
	db.Exec("grant all on schema public to " + Keeper)
	return with(db.OwnerURL, db.Owner.Config().ConnConfig.Database, url.UserPassword(Keeper, loginPassword))
}

// As makes a login in the roles, for this test alone, and returns its name and the URL by which it connects to the database.
func (db *DB) As(roles ...string) (login, loginURL string) {
	db.t.Helper()
	database := db.Owner.Config().ConnConfig.Database
	login = fmt.Sprintf("%s_%d", database, serial.Add(1))
	in := ""
	if len(roles) > 0 {
		in = " in role " + strings.Join(roles, ", ")
	}
	db.Exec("create role " + login + " login password '" + pgdev.Verifier(loginPassword) + "'" + in)
	db.t.Cleanup(func() { admin(db.t, db.OwnerURL, "drop owned by "+login+"; drop role "+login) })
	return login, with(db.OwnerURL, database, url.UserPassword(login, loginPassword))
}

// SQLURL is the URL by which nexus_sql, which runs SQL handlers, connects to the database.
func (db *DB) SQLURL() string {
	return with(db.OwnerURL, db.Owner.Config().ConnConfig.Database, url.UserPassword("nexus_sql", loginPassword))
}

// Neighbour lets Neighbour create what it wants in the database and use the three extensions, as a service beside Nexus does, and
// returns its pool.
func (db *DB) Neighbour() *pgxpool.Pool {
	db.t.Helper()
	db.Exec("do $$ begin execute format('grant create, temporary on database %I to " + Neighbour + "', current_database()); end $$")
	db.Exec("grant all on schema public to " + Neighbour)
	for _, extension := range []string{"pgmq", "partman", "cron"} {
		db.Exec(`do $$ declare s constant text := '` + extension + `'; begin
				if to_regnamespace(s) is null then return; end if;
				execute format('grant usage on schema %I to ` + Neighbour + `', s);
				if s <> 'cron' then
					execute format('grant create on schema %I to ` + Neighbour + `', s);
					execute format('grant select, insert, update, delete on all tables in schema %I to ` + Neighbour + `', s);
				end if;
			end $$`)
	}
	// What Nexus and others made there is not meant.
	db.Exec(`do $$ declare r record; begin
			for r in select c.oid::regclass as relation from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = to_regnamespace('pgmq')
				and c.relowner = 'nexus_owner'::regrole loop
				execute format('revoke all on %s from ` + Neighbour + `', r.relation);
			end loop; end $$`)
	return pool(db.t, with(db.OwnerURL, db.Owner.Config().ConnConfig.Database, url.UserPassword(Neighbour, loginPassword)))
}

func pool(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns = 12
	cfg.ConnConfig.RuntimeParams["search_path"] = ""
	p, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func admin(t testing.TB, url, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // thousands of tables take long to drop
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatalf("connect to %s: %v", EnvURL, err)
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	// Another package may be looking whether the template is up to date. The server waits five seconds for that, and on a busy machine it
	// may take longer.
	for range 10 {
		if pg, is := errors.AsType[*pgconn.PgError](err); !is || pg.Code != "55006" {
			break
		}
		_, err = conn.Exec(ctx, sql)
	}
	if err != nil {
		t.Fatalf("%s: %v", strings.SplitN(sql, "\n", 2)[0], err)
	}
}

// Namespace creates a namespace with default options.
func (db *DB) Namespace(name string) {
	db.t.Helper()
	db.Exec("select core.create_namespace($1)", name)
}

// Exec runs a statement as the superuser.
func (db *DB) Exec(sql string, args ...any) {
	db.t.Helper()
	if _, err := db.Owner.Exec(db.t.Context(), sql, args...); err != nil {
		db.t.Fatalf("%s: %v", sql, err)
	}
}

// Get returns the one value of a query run as the superuser.
func Get[T any](db *DB, sql string, args ...any) T {
	db.t.Helper()
	rows, err := db.Owner.Query(db.t.Context(), sql, args...)
	if err != nil {
		db.t.Fatalf("%s: %v", sql, err)
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	if err != nil {
		db.t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// Wait polls until a query of the superuser's returns true, for a minute at most; no row is not true.
func (db *DB) Wait(sql string, args ...any) {
	db.t.Helper()
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !Get[bool](db, "select coalesce(("+sql+"), false)", args...) {
		if time.Now().After(deadline) {
			db.t.Fatalf("still not true after a minute: %s", sql)
		}
		<-tick.C
	}
}

// Now is the database clock.
func (db *DB) Now() time.Time { return Get[time.Time](db, "select core.now()") }

// SetNow stops the database clock at t.
func (db *DB) SetNow(t time.Time) {
	db.t.Helper()
	db.Exec("update nexus_test.clock set frozen = $1, shift = '0'", t)
}

// Advance moves the database clock, running or stopped.
func (db *DB) Advance(d time.Duration) {
	db.t.Helper()
	db.Exec("update nexus_test.clock set shift = shift + make_interval(secs => $1)", d.Seconds())
}
