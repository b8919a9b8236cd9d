package dbtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/internal/pgdev"
	"github.com/nexuspg/nexus/migrate"
)

func TestMain(m *testing.M) { Main(m) }

// holds: I5-login
func TestTheLoginIsAnOrdinaryOne(t *testing.T) {
	db := New(t)
	var user, path string
	var super, bypasses, consumes, produces, operates bool
	err := db.Pool.QueryRow(t.Context(), `
		select current_user, current_setting('search_path'), rolsuper, rolbypassrls, pg_has_role('nexus_consumer', 'member'),
		       pg_has_role('nexus_producer', 'member'), pg_has_role('nexus_operator', 'member') or pg_has_role('nexus_owner', 'member')
		  from pg_catalog.pg_roles where rolname = current_user`).Scan(&user, &path, &super, &bypasses, &consumes, &produces, &operates)
	if err != nil {
		t.Fatal(err)
	}
	if user != Login || super || bypasses || !consumes || !produces || operates {
		t.Errorf("%s: superuser %v, bypasses row security %v, consumes %v, produces %v, more %v", user, super, bypasses, consumes, produces, operates)
	}
	if path != "" {
		t.Errorf("search_path is %q; want it empty", path)
	}
	if !Get[bool](db, `select rolsuper and current_setting('search_path') = '' from pg_catalog.pg_roles where rolname = current_user`) {
		t.Error("the owner's pool is no superuser's, or has a search_path")
	}
}

func TestTheClockMoves(t *testing.T) {
	db, other := New(t), New(t)
	db.Namespace("shop")

	first, second := db.Now(), db.Now()
	if !second.After(first) {
		t.Errorf("the clock stands still before anybody stopped it: %s, %s", first, second)
	}
	if off := time.Since(first); off.Abs() > time.Minute {
		t.Errorf("the clock is off by %s before anybody moved it", off)
	}
	db.Advance(48 * time.Hour)
	if ahead := time.Until(db.Now()); ahead < 47*time.Hour {
		t.Errorf("advanced by 48 h, it is ahead by %s", ahead)
	}
	noon := time.Date(2031, 2, 3, 12, 0, 0, 0, time.UTC)
	db.SetNow(noon)
	db.Advance(time.Minute)
	if got := db.Now(); !got.Equal(noon.Add(time.Minute)) {
		t.Errorf("stopped at %s and advanced by a minute, it says %s", noon, got)
	}
	db.Exec(`select core.emit('shop', 'x')`)
	if got := Get[time.Time](db, `select emitted_at from core.event_log`); !got.Equal(noon.Add(time.Minute)) {
		t.Errorf("an event was emitted at %s by another clock", got)
	}
	if off := time.Since(other.Now()); off.Abs() > time.Minute {
		t.Errorf("the clock of another database is off by %s", off)
	}
}

func TestOnlyASuperuserMovesTheClock(t *testing.T) {
	db := New(t)
	_, err := db.Pool.Exec(t.Context(), `update nexus_test.clock set shift = '1 h'`)
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "42501" {
		t.Errorf("the login moves the clock: %v", err)
	}
}

// A test of the installer on such a database must not stumble over the clock.
func TestTheClockIsToleratedDrift(t *testing.T) {
	db := New(t)
	report, err := migrate.Status(t.Context(), db.Owner)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Applied)+len(report.Drift)+len(report.Orphans) > 0 {
		t.Errorf("to apply %q, drift %q, orphans %q", report.Applied, report.Drift, report.Orphans)
	}
}

func TestNothingIsLeft(t *testing.T) {
	var url string
	t.Run("a test", func(t *testing.T) {
		db := New(t)
		url = db.OwnerURL
		db.Exec("select 1")
		if _, err := db.Pool.Exec(t.Context(), "select 1"); err != nil {
			t.Fatal(err)
		}
	})
	_, err := pgx.Connect(t.Context(), url)
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "3D000" {
		t.Errorf("the database of a test that has ended: %v; want 3D000", err)
	}
}

// A server that outlives an edit of the SQL has the template of before.
func TestAnotherTemplateIsBuiltAnew(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	is := func(want bool) {
		t.Helper()
		if built, err := isBuilt(t.Context(), conn); err != nil || built != want {
			t.Errorf("the template is as this program builds it: %v, %v", built, err)
		}
	}
	is(true)
	admin(t, URL(t), "comment on database "+pgdev.TemplateDatabase+" is 'another'")
	is(false)
	if err := ensureTemplate(t.Context(), URL(t)); err != nil {
		t.Fatal(err)
	}
	is(true)
}

func TestClonesOfKilledTestsAreDropped(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	// A prefix of its own: other packages' clones are none of this test's business.
	prefix := fmt.Sprintf("nexus_left_%d_", os.Getpid())
	for _, name := range []string{"idle", "used"} {
		admin(t, URL(t), "create database "+prefix+name)
		t.Cleanup(func() { admin(t, URL(t), "drop database if exists "+prefix+name+" with (force)") })
	}
	user, err := pgx.Connect(t.Context(), with(URL(t), prefix+"used", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close(context.Background())

	for _, c := range []struct {
		age  time.Duration
		left string
	}{{time.Hour, "idle used"}, {0, "used"}} {
		if err := dropLeftClones(t.Context(), conn, prefix, c.age); err != nil {
			t.Fatal(err)
		}
		var left string
		err := conn.QueryRow(t.Context(), `select coalesce(string_agg(substr(datname, $2), ' ' order by datname), '')
			from pg_database where starts_with(datname, $1)`, prefix, len(prefix)+1).Scan(&left)
		if err != nil {
			t.Fatal(err)
		}
		if left != c.left {
			t.Errorf("older than %s: %q are left, want %q", c.age, left, c.left)
		}
	}
}

func TestCronIsLentToOneTest(t *testing.T) {
	var namespace string
	t.Run("first", func(t *testing.T) {
		db := Cron(t)
		db.Namespace("left_behind")
		namespace = "left_behind"
		conn, err := pgx.Connect(t.Context(), URL(t))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		var free bool
		if err := conn.QueryRow(t.Context(), "select pg_try_advisory_lock(hashtext('nexus dbtest cron'))").Scan(&free); err != nil {
			t.Fatal(err)
		}
		if free {
			t.Error("another test could have it at the same time")
		}
		if Get[bool](db, `select to_regclass('nexus_test.clock') is not null and exists (select from core_private.tolerated_drift)`) {
			t.Error("its clock is replaced: pg_cron goes by the real one")
		}
		if got := Get[string](db, `select current_setting('cron.database_name')`); got != db.Owner.Config().ConnConfig.Database {
			t.Errorf("pg_cron fires in %s", got)
		}
	})
	if namespace == "" {
		t.Skip("this server has no database in which pg_cron fires; with-postgres makes one")
	}
	t.Run("second", func(t *testing.T) {
		if Get[bool](Cron(t), `select exists (select from core.namespaces where namespace = $1)`, namespace) {
			t.Error("a namespace of the test before is still there")
		}
	})
}
