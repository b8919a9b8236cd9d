package nexussql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// author is a login that owns a schema, in which anybody may note what ran and as whom, and functions that handle events.
type author struct {
	name   string
	schema string
	conn   *pgx.Conn
}

// writesHandlers makes an author, with a namespace of the schema's name.
func writesHandlers(t *testing.T, db *dbtest.DB, schema string) author {
	t.Helper()
	name, url := db.As("nexus_consumer", "nexus_producer")
	db.Exec("create schema " + schema + " authorization " + name)
	t.Cleanup(func() { _, _ = db.Owner.Exec(context.Background(), "drop schema if exists "+schema+" cascade") })
	conn := connect(t, url)
	a := author{name, schema, conn}
	db.Namespace(schema)
	a.exec(t, `create table `+schema+`.notes (note_id bigint generated always as identity, who text, said text);
		grant usage on schema `+schema+` to public; grant insert on `+schema+`.notes to public;
		create function `+schema+`.note(p_said text) returns void language sql as $$ insert into `+schema+`.notes (who, said) values (current_user, p_said) $$;
		create function `+schema+`.try(p_what text, p_sql text) returns void language plpgsql as $$ begin
			execute p_sql; perform `+schema+`.note(p_what || ': done');
		exception when others then perform `+schema+`.note(p_what || ': ' || sqlstate); end $$`)
	return a
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec // a handler may take away or replace what has a name
	conn, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func (a author) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := a.conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// handles writes a function with that body and has it handle the events of the author's namespace.
func (a author) handles(t *testing.T, db *dbtest.DB, name, body string) {
	t.Helper()
	a.exec(t, a.function(name, body)+`; grant execute on function `+a.schema+`.`+name+`(jsonb) to nexus_guard`)
	db.Exec(`insert into core_private.sql_handlers (consumer_id, function, owner, created_by, created_at)
		select consumer_id, $1, $2::regrole, 'test', core.now() from core.consumers where namespace = $3`, a.schema+"."+name+"(jsonb)", a.name, a.schema)
}

func (a author) function(name, body string) string {
	return `create or replace function ` + a.schema + `.` + name + `(p_event jsonb) returns void language plpgsql security definer
		set search_path = ` + a.schema + `, pg_temp as $handler$ ` + body + ` $handler$`
}

// notes are what ran said, each with who it ran as: author, nexus_sql or another role.
func (a author) notes(t *testing.T, db *dbtest.DB) []string {
	t.Helper()
	return column(t, db, `select case who when '`+a.name+`' then 'author' else who end || ' '  || said from `+a.schema+`.notes order by note_id`)
}

type claimed struct {
	consumer int32
	ids      []int64
	cts      []int32
	ats      []time.Time
	buried   int32
}

func claimSQL(t *testing.T, conn *pgx.Conn, namespace any) (c claimed, some bool) {
	t.Helper()
	rows, err := conn.Query(t.Context(), `select consumer_id, ids, cts, ats, buried from core_node.claim_sql($1, p_limit => 10)`, namespace)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		some = true
		if err := rows.Scan(&c.consumer, &c.ids, &c.cts, &c.ats, &c.buried); err != nil {
			t.Fatal(err)
		}
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return c, some
}

type ran struct{ Handled, Retried, Buried, Released, Lost int32 }

func (c claimed) run(t *testing.T, conn *pgx.Conn) (r ran, err error) {
	t.Helper()
	err = conn.QueryRow(t.Context(), `select * from core_node.run_sql($1, 'test', $2, $3, $4)`, c.consumer, c.ids, c.cts, c.ats).
		Scan(&r.Handled, &r.Retried, &r.Buried, &r.Released, &r.Lost)
	return r, err
}

// runSQL runs what is due in a namespace as a node does: a claim, and a transaction for what was claimed.
func runSQL(t *testing.T, conn *pgx.Conn, namespace any) ran {
	t.Helper()
	c, some := claimSQL(t, conn, namespace)
	if !some {
		t.Fatal("nothing was claimed")
	}
	r, err := c.run(t, conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "discard all", pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	return r
}

// An SQL handler runs as the owner of its function, whatever it tries; what it leaves in its session runs as nexus_sql, which may do nothing.
// holds: H4
func TestAnSQLHandlerHasTheRightsOfItsOwnerAlone(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	victim := writesHandlers(t, db, "victim")
	db.Exec(`update core.namespaces set restricted = true where namespace = 'victim'`)
	victim.handles(t, db, "on_event", `begin perform note('handled ' || (p_event ->> 'payload')); end`)
	a := writesHandlers(t, db, "app")
	a.exec(t, `create table app.deferring (n int);
		create function app.tries() returns void language plpgsql as $$ begin
			perform app.try('read a queue', 'select * from pgmq.q_core_events_victim');
			perform app.try('read the log', 'select * from core.event_log');
			perform app.try('claim', 'select * from core_node.claim_sql()');
			perform app.try('run', 'select * from core_node.run_sql(1, ''x'', ''{}'', ''{}'', ''{}'')');
			perform app.try('fail', 'select core_node.fail_sql(1, ''x'', ''{}'', ''{}'', ''{}'', ''x'', ''x'')');
			perform app.try('work', 'call core.work_all()');
			perform app.try('call the handler of another', 'select victim.on_event(''{"payload": "forged"}'')');
			perform app.try('call the guard', 'select core_private.call_handler(''victim.on_event(jsonb)''::regprocedure, 1, ''{}'')');
			perform app.try('emit', 'select core.emit(''app'', ''more'')');
			perform app.try('read the handlers', 'select * from core_private.sql_handlers');
			perform app.try('act for another', 'insert into core_private.sql_transactions values (pg_current_xact_id(), 10)');
		end $$;
		create function app.trap() returns trigger language plpgsql as $$ begin perform app.note('deferred'); perform app.tries(); return null; end $$;
		create constraint trigger trap after insert on app.deferring deferrable initially deferred for each row execute function app.trap();
		create function app.held() returns int language plpgsql as $$ begin perform app.note('held'); perform app.tries(); return 1; end $$;
		grant insert on app.deferring to public; revoke execute on function app.held(), app.trap() from public;
		grant execute on function app.held(), app.trap() to nexus_sql;
		grant execute on function app.tries(), app.note(text), app.try(text, text) to public`)
	victim.exec(t, `revoke execute on function victim.on_event(jsonb) from public`)
	a.handles(t, db, "on_event", `begin
		perform note('handler ' || session_user);
		perform try('reset role', 'reset role');
		perform try('set role', 'set role nexus_guard');
		perform try('set session authorization', 'set session authorization default');
		perform try('reset session authorization', 'reset session authorization');
		perform try('commit', 'commit');
		perform try('another''s queue', 'select core_node.claim(''core_events_victim'', ''{*}'', ''{0}'', 1, ''30 s'')');
		perform tries();
		insert into deferring values (1);
		execute 'declare held cursor with hold for select app.held()';
		execute 'prepare stmtcache_1 as select app.held()';
		perform note('portals: ' || (select count(*) from pg_cursors where name <> 'held' and statement not like '%run_sql%'));
	end`)
	db.Exec(`select core.emit('app', 'a')`)
	conn := connect(t, db.SQLURL())
	if got := runSQL(t, conn, "app"); got.Handled != 1 {
		t.Fatalf("ran %+v: %v", got, column(t, db, "select error from core.delivery_errors"))
	}
	var want []string
	tried := func(who, emit, machine string) {
		for _, what := range []string{"read a queue: 42501", "read the log: 42501", "claim: " + machine, "run: " + machine, "fail: " + machine, "work: " + machine,
			"call the handler of another: 42501", "call the guard: 42501", "emit: " + emit, "read the handlers: 42501", "act for another: 42501"} {
			want = append(want, who+" "+what)
		}
	}
	for _, what := range []string{"handler nexus_sql", "reset role: 42501", "set role: 42501", "set session authorization: 42501",
		"reset session authorization: 42501", "commit: 0A000", "another's queue: NX402"} {
		want = append(want, "author "+what)
	}
	tried("author", "done", "42501")
	want = append(want, "author portals: 0", "nexus_sql deferred")
	tried("nexus_sql", "42501", "25001")
	want = append(want, "nexus_sql held")
	tried("nexus_sql", "42501", "25001")
	if diff := cmp.Diff(want, a.notes(t, db)); diff != "" {
		t.Errorf("what ran, and as whom (-want +got)\n%s", diff)
	}
	if got := dbtest.Get[string](db, `select string_agg(principal, ',') from core.event_log where event_type = 'more'`); got != "nexus_sql as "+a.name {
		t.Errorf("its event is one of %s", got)
	}
	if left := victim.notes(t, db); len(left) > 0 {
		t.Errorf("the handler of another ran: %v", left)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core_private.sql_transactions`); n != 0 {
		t.Errorf("%d transactions are still there", n)
	}
}

// A path that a handler sets outlives its call. Nothing that Nexus does afterwards finds what lies in it.
// holds: H4
func TestAPathThatAnSQLHandlerLeaves(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	a := writesHandlers(t, db, "app")
	a.exec(t, `create table app.ran (who text); grant insert on app.ran to public`)
	for i, o := range []string{"= int4 int4", "+ int4 int4", "= text text", "|| text text", "|| jsonb jsonb", "= int8 int8", "+ int8 int8", ">= timestamptz timestamptz",
		"+ timestamptz interval", "> int4 int4", "= oid oid", "= name text", "= name name", "|| anycompatiblearray anycompatible", "->> jsonb text"} {
		var op, left, right string
		_, _ = fmt.Sscan(o, &op, &left, &right)
		result := map[string]string{"=": "boolean", ">": "boolean", ">=": "boolean", "->>": "text"}[op]
		if result == "" {
			result = left
		}
		a.exec(t, fmt.Sprintf(`create function app.op_%[1]d(a %[3]s, b %[4]s) returns %[5]s language plpgsql as $$ begin insert into app.ran values (current_user); return null; end $$;
			create operator app.%[2]s (leftarg = %[3]s, rightarg = %[4]s, function = app.op_%[1]d)`, i, op, left, right, result))
	}
	for _, f := range []string{"set_config(text, text, boolean) returns text", "format(text, text, text) returns text", "clock_timestamp() returns timestamptz",
		"current_setting(text) returns text", "jsonb_array_length(jsonb) returns integer", "cardinality(anyarray) returns integer"} {
		a.exec(t, `create function app.`+f+` language plpgsql as $$ begin insert into app.ran values (current_user); return null; end $$`)
	}
	a.handles(t, db, "on_event", `begin perform pg_catalog.set_config('search_path', 'app, pg_catalog', false); insert into app.notes (who, said) values ('author', 'ran'); end`)
	db.Exec(`select core.emit_batch('app', array_fill('a'::text, array[3]), array_fill('{}'::jsonb, array[3]))`)
	if got := runSQL(t, connect(t, db.SQLURL()), nil); got != (ran{Handled: 3}) {
		t.Errorf("by nexus_sql: %+v", got)
	}
	db.Exec(`select core.emit_batch('app', array_fill('a'::text, array[3]), array_fill('{}'::jsonb, array[3]))`)
	a.exec(t, `set search_path = public`)
	var path string
	if err := a.conn.QueryRow(t.Context(), `select pg_catalog.current_setting('search_path') from core.work('app') where handled operator(pg_catalog.=) 3`).Scan(&path); err != nil || path != "public" {
		t.Errorf("after core.work the path is %q, %v", path, err)
	}
	db.Exec(`select core.emit('app', 'a')`)
	if _, err := connect(t, db.SQLURL()).Exec(t.Context(), `call core.work_all()`); err != nil {
		t.Error(err)
	}
	if got := len(a.notes(t, db)); got != 7 {
		t.Errorf("handled %d events", got)
	}
	if got := column(t, db, `select distinct who from app.ran`); len(got) > 0 {
		t.Errorf("ran as %v", got)
	}
}

// holds: H4
func TestAnSQLHandlerThatIsAlteredWhileItRuns(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	a := writesHandlers(t, db, "app")
	a.handles(t, db, "on_event", `begin perform pg_advisory_xact_lock(4711); perform note('ran'); end`)
	db.Exec(`select core.emit('app', 'a')`)
	a.exec(t, `select pg_advisory_lock(4711)`)
	conn := connect(t, db.SQLURL())
	done := make(chan ran)
	go func() { defer close(done); done <- runSQL(t, conn, nil) }()
	db.Wait(`select exists (select from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database()))`)
	a.exec(t, a.function("on_event", `begin perform note('another'); end`))
	a.exec(t, `select pg_advisory_unlock(4711)`)
	if got := <-done; got != (ran{Retried: 1}) {
		t.Errorf("%+v", got)
	}
	if got := a.notes(t, db); len(got) > 0 {
		t.Errorf("it is not undone: %v", got)
	}
	if got := dbtest.Get[string](db, `select error from core.delivery_errors`); !strings.HasPrefix(got, "NX215: ") {
		t.Error(got)
	}
	db.Advance(time.Minute)
	if got := runSQL(t, conn, nil); got != (ran{Handled: 1}) {
		t.Errorf("again: %+v", got)
	}
}

// What is no longer what its owner subscribed is not called, and its events wait.
// holds: H4
func TestAnSQLHandlerThatMayNotBeCalled(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	a := writesHandlers(t, db, "app")
	a.handles(t, db, "on_event", `begin perform note('ran'); end`)
	conn := connect(t, db.SQLURL())
	other, _ := db.As("nexus_consumer")
	db.Exec(`select core.emit('app', 'a')`)
	for _, c := range []struct{ does, undoes, trouble string }{
		{`alter function app.on_event(jsonb) owner to ` + other, `alter function app.on_event(jsonb) owner to ` + a.name, "belongs to"},
		{`alter function app.on_event(jsonb) security invoker`, `alter function app.on_event(jsonb) security definer`, "SECURITY DEFINER"},
		{`alter function app.on_event(jsonb) reset search_path`, `alter function app.on_event(jsonb) set search_path = app, pg_temp`, "search_path"},
		{`revoke execute on function app.on_event(jsonb) from nexus_guard`, `grant execute on function app.on_event(jsonb) to nexus_guard`, "nexus_guard may not execute"},
		{`revoke usage on schema app from public`, `grant usage on schema app to public`, "may not use the schema"},
		{`alter function app.on_event(jsonb) rename to gone`, `alter function app.gone(jsonb) rename to on_event`, "is gone"},
		{`revoke nexus_consumer from ` + a.name, `grant nexus_consumer to ` + a.name, ""},
	} {
		db.Exec(c.does)
		if _, some := claimSQL(t, conn, nil); some {
			t.Errorf("claimed after %s", c.does)
		}
		if c.trouble != "" {
			if got := dbtest.Get[string](db, `select coalesce(trouble, '') || coalesce(mend, 'no mend') from core.sql_handlers`); !strings.Contains(got, c.trouble) {
				t.Errorf("after %s: %q", c.does, got)
			}
			var handled int
			if err := a.conn.QueryRow(t.Context(), `select handled from core.work('app')`).Scan(&handled); err != nil || handled != 0 {
				t.Errorf("core.work after %s: %d, %v", c.does, handled, err)
			}
		}
		db.Exec(c.undoes)
	}
	// Between claim and call nothing else is asked than the function's row.
	c, _ := claimSQL(t, conn, nil)
	db.Exec(`alter function app.on_event(jsonb) owner to ` + other)
	if got, err := c.run(t, conn); err != nil || got != (ran{Retried: 1}) {
		t.Errorf("after the claim: %+v, %v", got, err)
	}
	if got := dbtest.Get[string](db, `select error from core.delivery_errors`); !strings.HasPrefix(got, "NX015: ") {
		t.Error(got)
	}
	if got := a.notes(t, db); len(got) > 0 {
		t.Errorf("it ran: %v", got)
	}
}

// A death of the runner uses an attempt of what it ran alone, and its neighbours none.
// holds: H4, D6
func TestAnEventThatKillsItsSQLRunner(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	a := writesHandlers(t, db, "app")
	db.Exec(`update core.namespaces set retry = '{"max_attempts": 3}'`)
	a.handles(t, db, "on_event", `begin
		perform note(p_event ->> 'eventType');
		if p_event ->> 'eventType' = 'poison' then perform app.die(); end if;
	end`)
	db.Exec(`create function app.die() returns void language sql security definer as 'select pg_terminate_backend(pg_backend_pid())';
		select core.emit_batch('app', '{good,poison,good}', array_fill('{}'::jsonb, array[3]))`)
	deaths := 0
	for round := 0; dbtest.Get[int](db, `select count(*)::int from pgmq.q_core_events_app`) > 0; round++ {
		if round > 20 {
			t.Fatal("it never ends")
		}
		conn := connect(t, db.SQLURL())
		if c, some := claimSQL(t, conn, nil); some && len(c.ids) > 0 {
			if _, err := c.run(t, conn); err != nil {
				deaths++
			}
		}
		db.Advance(10 * time.Minute)
	}
	if got := dbtest.Get[string](db, `select string_agg(event_type || ' ' || attempts || ' ' || reason, ',') from core.dead_letters`); got != "poison 3 not acknowledged (process lost)" {
		t.Errorf("dead letters: %s", got)
	}
	if got := a.notes(t, db); !cmp.Equal(got, []string{"author good", "author good"}) {
		t.Errorf("handled %v", got)
	}
	if deaths != 4 {
		t.Errorf("%d deaths: one in company and three alone are right", deaths)
	}
}

// holds: H4
func TestTwoRunnersOfSQLHandlers(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	a := writesHandlers(t, db, "app")
	a.handles(t, db, "on_event", `begin perform note(p_event ->> 'messageId'); end`)
	db.Exec(`select core.emit_batch('app', array_fill('a'::text, array[400]), array_fill('{}'::jsonb, array[400]))`)
	var g errgroup.Group
	for range 3 {
		conn := connect(t, db.SQLURL())
		g.Go(func() error { _, err := conn.Exec(t.Context(), `call core.work_all()`); return err })
	}
	g.Go(func() error {
		_, err := a.conn.Exec(t.Context(), `select core.work('app', 10) from generate_series(1, 10)`)
		return err
	})
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	// What the others held was left to them.
	if _, err := connect(t, db.SQLURL()).Exec(t.Context(), `call core.work_all()`); err != nil {
		t.Fatal(err)
	}
	if got := dbtest.Get[string](db, `select count(*) || ' ' || count(distinct said) from app.notes`); got != "400 400" {
		t.Errorf("notes and events: %s", got)
	}
}

// A statement that runs out of time fails the event that runs, gives the others back and keeps what was done before. Somebody's cancel undoes all.
// holds: H4
func TestASlowSQLHandler(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	a := writesHandlers(t, db, "app")
	a.handles(t, db, "on_event", `begin
		perform note(p_event ->> 'eventType');
		if p_event ->> 'eventType' = 'slow' then perform pg_sleep(600); end if;
	end`)
	db.Exec(`select core.emit_batch('app', '{quick,slow,later}', array_fill('{}'::jsonb, array[3]))`)
	conn := connect(t, db.SQLURL())
	c, _ := claimSQL(t, conn, nil)
	if _, err := conn.Exec(t.Context(), `set statement_timeout = '3s'`); err != nil { // on a busy machine it takes a second to come to the slow one
		t.Fatal(err)
	}
	if got, err := c.run(t, conn); err != nil || got != (ran{Handled: 1, Retried: 1, Released: 1}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got := dbtest.Get[string](db, `select reason || error from core.delivery_errors`); !strings.HasPrefix(got, "timeout57014: ") {
		t.Error(got)
	}
	if got := a.notes(t, db); !cmp.Equal(got, []string{"author quick"}) {
		t.Errorf("notes: %v", got)
	}
	db.Advance(time.Hour)
	db.Exec(`delete from pgmq.q_core_events_app where message ->> 'eventType' = 'later'`)
	c, _ = claimSQL(t, conn, nil)
	if _, err := conn.Exec(t.Context(), `set statement_timeout = '1h'`); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { _, err := c.run(t, conn); done <- err }()
	db.Wait(`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`)
	if err := <-done; code(err) != "57014" {
		t.Errorf("a cancel: %v", err)
	}
	if got := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors`); got != 1 {
		t.Errorf("%d failed attempts", got)
	}
}

// What fails when it is committed is settled as failed by who ran it.
// holds: H4
func TestAnSQLHandlerThatFailsAtCommit(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	a := writesHandlers(t, db, "app")
	a.exec(t, `create table app.parent (id int primary key); create table app.child (id int references app.parent deferrable initially deferred)`)
	a.handles(t, db, "on_event", `begin insert into child values (1); end`)
	db.Exec(`select core.emit('app', 'a')`)
	conn := connect(t, db.SQLURL())
	c, _ := claimSQL(t, conn, nil)
	if _, err := c.run(t, conn); code(err) != "23503" {
		t.Fatalf("commit: %v", err)
	}
	if _, err := conn.Exec(t.Context(), `select core_node.fail_sql($1, 'test', $2, $3, $4, 'commit', 'no parent')`, c.consumer, c.ids, c.cts, c.ats); err != nil {
		t.Fatal(err)
	}
	if got := dbtest.Get[string](db, `select attempt || reason || error || node_id from core.delivery_errors`); got != "1commitno parenttest" {
		t.Error(got)
	}
}

// A handler may what its owner may, no more, and no longer.
// holds: H4, I3
func TestAnSQLHandlerActsForItsOwner(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	a := writesHandlers(t, db, "app")
	a.handles(t, db, "on_event", `begin if p_event ->> 'eventType' = 'a' then perform core.emit('app', 'b'); end if; end`)
	db.Exec(`select core.emit('app', 'a'); revoke nexus_producer from ` + a.name)
	conn := connect(t, db.SQLURL())
	if got := runSQL(t, conn, nil); got != (ran{Retried: 1}) {
		t.Errorf("without the duty: %+v", got)
	}
	db.Exec(`grant nexus_producer to ` + a.name)
	db.Advance(time.Hour)
	if got := runSQL(t, conn, nil); got != (ran{Handled: 1}) {
		t.Errorf("with the duty: %+v", got)
	}
	if _, err := conn.Exec(t.Context(), `begin; select core.now()`, pgx.QueryExecModeSimpleProtocol); code(err) != "42501" {
		t.Errorf("nexus_sql itself: %v", err)
	}
}

// With no node alive, pg_cron alone runs an SQL handler within two minutes: the installer made the job.
// holds: H4
func TestPgCronRunsSQLHandlers(t *testing.T) {
	t.Parallel()
	db := dbtest.Cron(t)
	t.Cleanup(func() {
		_, _ = db.Owner.Exec(context.Background(), `select core.drop_namespace(namespace, namespace, true) from core.namespaces`)
	})
	// A copy has the jobs of the database that it was made from.
	db.Exec(`update cron.job set database = current_database() where jobname = 'nexus:work'`)
	a := writesHandlers(t, db, "by_cron")
	a.handles(t, db, "on_event", `begin perform note(session_user || ' ' || (p_event ->> 'payload')); end`)
	db.Exec(`select core.emit('by_cron', 'a', to_jsonb(n)) from generate_series(1, 120) n`)
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	for dbtest.Get[int](db, `select count(*)::int from pgmq.q_core_events_by_cron`) > 0 {
		if ctx.Err() != nil {
			t.Fatalf("not handled; its runs: %v", column(t, db, `select coalesce(d.status, '') || ' ' || coalesce(d.return_message, '') from cron.job_run_details d where d.command like '%work_all%' order by runid desc limit 5`))
		}
		db.Wait(`select pg_sleep(0.2) is not null`)
	}
	if got := dbtest.Get[string](db, `select count(*) || ' ' || count(distinct said) || ' ' || min(split_part(said, ' ', 1)) from by_cron.notes`); got != "120 120 nexus_sql" {
		t.Errorf("events, and as whom: %s", got)
	}
}

// One whose handlers are slow holds up nobody: consumers take turns within a call, and a statement_timeout ends what goes on for too long. What one owner's
// handler leaves in the session, the next one's does not find.
// holds: H4
func TestOwnersOfSQLHandlersTakeTurns(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	slow := writesHandlers(t, db, "slow")
	slow.handles(t, db, "on_event", `begin
		perform pg_catalog.set_config('work_mem', '77kB', false), pg_catalog.set_config('default_transaction_read_only', 'on', false);
		perform pg_catalog.set_config('search_path', 'slow', false), pg_catalog.pg_advisory_lock(77);
		create temporary table if not exists leaves (a int);
		execute 'listen left_behind';
		if not exists (select from pg_catalog.pg_cursors where name = 'left_open') then execute 'declare left_open cursor with hold for select 1'; end if;
		if not exists (select from pg_catalog.pg_prepared_statements where name = 'left_behind') then execute 'prepare left_behind as select 1'; end if;
		perform pg_catalog.pg_sleep(0.4);
	end`)
	quick := writesHandlers(t, db, "quick")
	quick.handles(t, db, "on_event", `begin
		perform note(pg_catalog.concat_ws(' ', (select count(*) from pg_catalog.pg_class where relname = 'leaves'), (select count(*) from pg_catalog.pg_prepared_statements where name = 'left_behind'),
			(select count(*) from pg_catalog.pg_cursors where name = 'left_open'), pg_catalog.current_setting('work_mem') = '77kB', pg_catalog.current_setting('default_transaction_read_only'),
			(select count(*) from pg_catalog.pg_listening_channels()), (select count(*) from pg_catalog.pg_locks where locktype = 'advisory' and objid = 77 and pid = pg_catalog.pg_backend_pid())));
	end`)
	db.Exec(`select core.emit_batch('slow', array_fill('a'::text, array[100]), array_fill('{}'::jsonb, array[100])); select core.emit_batch('quick', array_fill('a'::text, array[200]), array_fill('{}'::jsonb, array[200]))`)
	conn := connect(t, db.SQLURL())
	if _, err := conn.Exec(t.Context(), `call core.work_all('3 s')`); err != nil {
		t.Fatal(err)
	}
	if got := column(t, db, `select distinct said from quick.notes`); !cmp.Equal(got, []string{"0 0 0 f off 0 0"}) {
		t.Errorf("found of the other: %v", got)
	}
	left := dbtest.Get[string](db, `select (select count(*) < 100 from pgmq.q_core_events_slow) || ' ' || (select count(*) < 151 from pgmq.q_core_events_quick)`)
	if left != "true true" {
		t.Errorf("in three seconds some of both should be handled: %s", left)
	}

	// A call without an end fails its event, and the next call goes on with the others.
	slow.exec(t, slow.function("on_event", `begin perform pg_catalog.pg_sleep(600); end`))
	db.Exec(`delete from pgmq.q_core_events_quick; delete from pgmq.q_core_events_slow; select core.emit('slow', 'last'), core.emit('quick', 'last')`)
	conn = connect(t, db.SQLURL()+"&statement_timeout=1s")
	for range 2 {
		if _, err := conn.Exec(t.Context(), `call core.work_all('3 s')`); err != nil {
			t.Fatal(err)
		}
	}
	if got := dbtest.Get[string](db, `select (select string_agg(reason || left(error, 5), ',') from core.delivery_errors) || ' ' || (select count(*) from pgmq.q_core_events_quick)`); got != "timeout57014 0" {
		t.Errorf("failed for, and left: %s", got)
	}
}

// What a handler leaves to the commit fails the attempt, and neither what it had in company nor the turns of others.
//
// holds: H4 (a commit that fails)
func TestACommitThatFailsIsOneAttempt(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	bad, good := writesHandlers(t, db, "bad"), writesHandlers(t, db, "good")
	bad.exec(t, `create table bad.parents (id int primary key);
		create table bad.children (parent int references bad.parents deferrable initially deferred); insert into bad.parents values (1)`)
	bad.handles(t, db, "on_event", `begin
		insert into bad.children values (case when p_event ->> 'eventType' = 'orphan' then 2 else 1 end);
		perform bad.note(p_event ->> 'eventType');
	end`)
	good.handles(t, db, "on_event", `begin perform good.note('done'); end`)
	db.Exec(`select core.emit('bad', 'child'), core.emit('bad', 'orphan'), core.emit('bad', 'child'), core.emit('good', 'a')`)
	if _, err := connect(t, db.SQLURL()).Exec(t.Context(), `call core.work_all('3 s')`); err != nil {
		t.Fatal(err)
	}
	if got := bad.notes(t, db); !cmp.Equal(got, []string{"author child", "author child"}) {
		t.Errorf("committed: %q", got)
	}
	if got := good.notes(t, db); len(got) != 1 {
		t.Errorf("the other: %q", got)
	}
	if got := column(t, db, `select concat_ws(' ', event_type, attempt, action, reason, left(error, 6)) from core.delivery_errors`); !cmp.Equal(got, []string{"orphan 1 retry commit 23503:"}) {
		t.Errorf("failed: %q", got)
	}
}
