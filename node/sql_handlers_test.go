package node_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/sqlwork"
	"github.com/nexuspg/nexus/node"
)

// writeHandler gives a new login a schema with a table of notes and a function that handles all events of the namespace.
func writeHandler(t *testing.T, db *dbtest.DB, schema, setUp, body string) {
	t.Helper()
	login, url := db.As("nexus_consumer")
	db.Exec("create schema " + schema + " authorization " + login)
	t.Cleanup(func() { _, _ = db.Owner.Exec(context.Background(), "drop schema "+schema+" cascade") })
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	sql := strings.ReplaceAll(`create table app.notes (said text); `+setUp+`;
		create function app.handle(p_event jsonb) returns void language plpgsql security definer set search_path = app, pg_temp as $handler$ `+body+` $handler$;
		revoke execute on function app.handle(jsonb) from public;
		grant usage on schema app to nexus_guard; grant execute on function app.handle(jsonb) to nexus_guard;
		select core.subscribe('shop', '*', 'app.handle(jsonb)', '{"consumer": "app"}')`, "app", schema)
	if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// running is a node of the namespace that runs its SQL handlers.
func running(t *testing.T, db *dbtest.DB, url string) *node.Node {
	t.Helper()
	s, err := sqlwork.New(url)
	if err != nil {
		t.Fatal(err)
	}
	n := node.New(db.Pool, node.Config{Namespace: ns, ID: "runner"})
	n.Add(s)
	return n
}

// A node runs the SQL handlers of its namespace; what one leaves in its session, the next one does not find.
// holds: H4
func TestANodeRunsSQLHandlers(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	const leaves = `begin
		insert into notes values ('ran');
		create temporary table if not exists notes_of_all (a int);
		grant all on notes_of_all to public;
		perform pg_catalog.set_config('search_path', 'leaver', false), pg_catalog.set_config('work_mem', '77kB', false), pg_catalog.set_config('statement_timeout', '77s', false);
		if not exists (select from pg_catalog.pg_prepared_statements) then execute 'prepare left_behind as select 1'; end if;
		execute 'listen left_behind';
		perform pg_catalog.pg_advisory_lock(77);
	end`
	writeHandler(t, db, "leaver", "", leaves)
	writeHandler(t, db, "finder", "", `begin
		insert into notes select pg_catalog.concat_ws(' ',
			(select count(*) from pg_catalog.pg_class where relpersistence = 't'), (select count(*) from pg_catalog.pg_prepared_statements), pg_catalog.current_setting('work_mem') = '77kB',
			pg_catalog.current_setting('statement_timeout') = '77s', (select count(*) from pg_catalog.pg_listening_channels()),
			(select count(*) from pg_catalog.pg_locks where locktype = 'advisory' and objid = 77 and pid = pg_catalog.pg_backend_pid()));
	end`)
	stop := start(t, running(t, db, db.SQLURL()))
	for range 20 {
		db.Exec(`select core.emit('shop', 'a')`)
		db.Wait(`select not exists (select from pgmq.q_core_events_shop__leaver) and not exists (select from pgmq.q_core_events_shop__finder)`)
	}
	stop()
	if got := dbtest.Get[[]string](db, `select array_agg(distinct said) from finder.notes`); !cmp.Equal(got, []string{"0 0 f f 0 0"}) {
		t.Errorf("found of the other: %v", got)
	}
	if got := dbtest.Get[string](db, `select (select count(*) from leaver.notes) || ' ' || (select count(*) from finder.notes)`); got != "20 20" {
		t.Errorf("handled %s", got)
	}
}

// Work runs them inline, as far as its limit goes.
// holds: H4
func TestWorkRunsSQLHandlers(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	writeHandler(t, db, "app", "", `begin if p_event ->> 'payload' = '3' then perform core.reject_event('no'); end if; insert into notes values (p_event ->> 'payload'); end`)
	db.Exec(`select core.emit('shop', 'a', to_jsonb(n)) from generate_series(1, 5) n`)
	n := running(t, db, db.SQLURL())
	for _, want := range []int{2, 3, 0} { // the one that is rejected was run, too
		if got, err := n.Work(t.Context(), max(want, 1)); got != want || err != nil {
			t.Fatalf("Work: %d, %v; want %d", got, err, want)
		}
	}
	if got := dbtest.Get[string](db, `select string_agg(said, ' ' order by said) from app.notes`); got != "1 2 4 5" {
		t.Errorf("handled %s", got)
	}
}

// Whoever emits calls a node that waits: it need not look each second.
// holds: N6
func TestANodeIsCalledForItsSQLHandlers(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	writeHandler(t, db, "app", "", `begin insert into notes values (p_event ->> 'payload'); end`)
	s, err := sqlwork.New(db.SQLURL())
	if err != nil {
		t.Fatal(err)
	}
	n := node.New(db.Pool, node.Config{Namespace: ns, Poll: time.Hour})
	n.Add(s)
	start(t, n)
	// It has looked once more since the flag is up, and sleeps for four seconds.
	db.Wait(`select exists (select from core_private.wake_flags f join pg_stat_activity a on a.query_start > f.waiting_until - interval '10 s'
		where f.key = 'core_events_shop__app' and a.datname = current_database() and a.application_name = 'nexus sql handlers' and a.state = 'idle' and a.query like '%claim_sql%')`)
	began := time.Now()
	db.Exec(`select core.emit('shop', 'a')`)
	db.Wait(`select not exists (select from pgmq.q_core_events_shop__app)`)
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
}

// An event whose transaction cannot be committed fails alone, with the server's words.
// holds: H4
func TestAnSQLHandlerThatFailsAtCommitFailsAlone(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	writeHandler(t, db, "app", `create table app.parent (id int primary key); create table app.child (id int references app.parent deferrable initially deferred)`,
		`begin insert into notes values (p_event ->> 'payload'); if p_event ->> 'payload' = '3' then insert into child values (1); end if; end`)
	db.Exec(`select core.emit('shop', 'a', to_jsonb(n)) from generate_series(1, 5) n`)
	start(t, running(t, db, db.SQLURL()))
	db.Wait(`select (select count(*) from app.notes) = 4 and exists (select from core.delivery_errors)`)
	if got := dbtest.Get[string](db, `select attempt || ' ' || reason || ' ' || node_id || ' ' || left(error, 6) from core.delivery_errors`); got != "1 commit runner 23503:" {
		t.Error(got)
	}
}

// Only the login that has no other right runs the handlers of others.
// holds: H4
func TestSQLHandlersAreRunByOneLogin(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	if err := running(t, db, db.URL).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "nexus_sql") {
		t.Errorf("Run: %v", err)
	}
	if _, err := sqlwork.New("postgres://nexus_sql:secret@host:x/db"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("New: %v", err)
	}
}
