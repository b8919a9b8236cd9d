package nexussql_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// inOrder writes a function with that body and subscribes it as an ordered consumer of two lanes, whose name it is. Of the keys a and c each has one.
func (a author) inOrder(t *testing.T, name, body, more string) {
	t.Helper()
	a.exec(t, a.function(name, `begin `+body+` end`)+`; grant execute on function `+a.schema+`.`+name+`(jsonb) to nexus_guard`)
	a.exec(t, `select core.subscribe('`+a.schema+`', '*', '`+a.schema+`.`+name+`(jsonb)', '{"kind": "ordered", "lanes": 2`+more+`}')`)
}

// emitKeys emits an event of each word, such as a:1: of key a, with the payload 1.
func emitKeys(t *testing.T, conn *pgx.Conn, ns, words string) {
	t.Helper()
	for _, w := range strings.Fields(words) {
		key, payload, _ := strings.Cut(w, ":")
		if _, err := conn.Exec(t.Context(), `select core.emit($1, 'moved', to_jsonb($2::text), jsonb_build_object('ordering_key', $3::text))`, ns, payload, key); err != nil {
			t.Fatal(err)
		}
	}
}

const tellOrdered = `perform note((p_event ->> 'orderingKey') || ':' || (p_event ->> 'payload') || case p_event ->> 'attempt' when '1' then '' else '/' || (p_event ->> 'attempt') end);`

// of are the notes about one key.
func of(key string, notes []string) (out []string) {
	for _, n := range notes {
		if s, ok := strings.CutPrefix(n, "author "+key+":"); ok {
			out = append(out, s)
		}
	}
	return out
}

func workAll(t *testing.T, url string) {
	t.Helper()
	if _, err := connect(t, url).Exec(t.Context(), `call core.work_all('20 s')`); err != nil {
		t.Fatal(err)
	}
}

// With no node alive an ordered consumer's function gets the events of each key in their order. One that fails keeps those behind it, and nobody else.
// holds: H4 (in order), LN5 (SQL handlers), LN6 (SQL handlers)
func TestSQLHandlersInOrder(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	a := writesHandlers(t, db, "app")
	a.inOrder(t, "ledger", tellOrdered+`
		case p_event ->> 'payload' when 'bad' then raise 'no'; when 'reject' then perform core.reject_event('r');
			when 'later' then if p_event ->> 'attempt' = '1' and not exists (select from notes where said = 'free') then perform core.release_event('1 minute'); end if; else end case;`,
		`, "retry": {"max_attempts": 2, "base": "10s", "jitter": 0}`)
	emitKeys(t, a.conn, "app", "a:1 c:1 a:bad a:3 c:reject c:3 c:later c:5")
	workAll(t, db.SQLURL())
	if got := a.notes(t, db); !cmp.Equal(of("a", got), []string{"1"}) || !cmp.Equal(of("c", got), []string{"1", "3"}) {
		t.Errorf("a failed event keeps its lane: %v", got)
	}
	if got := column(t, db, `select concat_ws(' ', event_type, attempt, action, reason, left(error, 9), node_id) from core.delivery_errors order by action desc`); !cmp.Equal(got, []string{"moved 1 retry error P0001: no nexus_sql", "moved 1 bury r r nexus_sql"}) {
		t.Errorf("errors: %v", got)
	}
	if got := dbtest.Get[string](db, `select string_agg(concat_ws(' ', seq, attempts, why), ',' order by attempts) from core.lane_status where namespace = 'app'`); got != "3 0,1 1 message 2 failed" {
		t.Errorf("lanes: %s", got)
	}
	a.exec(t, `insert into app.notes (who, said) values ('x', 'free')`)
	db.Advance(time.Minute)
	workAll(t, db.SQLURL())
	if got := a.notes(t, db); !cmp.Equal(of("a", got), []string{"1", "3"}) || !cmp.Equal(of("c", got), []string{"1", "3", "later", "5"}) {
		t.Errorf("then it goes on: %v", got)
	}
	if got := column(t, db, `select concat_ws(' ', payload #>> '{}', attempts, reason, ordering_key, source_kind) from core.dead_letters order by 1`); !cmp.Equal(got, []string{"bad 2 error a lane", "reject 1 r c lane"}) {
		t.Errorf("dead letters: %v", got)
	}

	// Paused, halted, skipped, resumed.
	lane := dbtest.Get[int](db, `select (core_private.lanes_of_keys('{a}', 2))[1]`)
	db.Exec(`select core.lane_pause('app', 'ledger', $1), core.alter_consumer('app', 'ledger', null, '{"exhausted": "halt"}')`, lane)
	emitKeys(t, a.conn, "app", "a:bad a:6 a:bad a:8 c:6")
	workAll(t, db.SQLURL())
	if got := a.notes(t, db); len(of("a", got)) != 2 || len(of("c", got)) != 5 {
		t.Errorf("paused: %v", got)
	}
	db.Exec(`select core.lane_resume('app', 'ledger', $1)`, lane)
	workAll(t, db.SQLURL())
	db.Advance(time.Minute)
	workAll(t, db.SQLURL())
	if got := dbtest.Get[string](db, `select state || ' ' || seq from core.lane_status where namespace = 'app' and lane = $1`, lane); got != "halted 3" {
		t.Errorf("halted: %s", got)
	}
	db.Exec(`select core.lane_skip('app', 'ledger', $1, 'no')`, lane)
	workAll(t, db.SQLURL())
	if got := a.notes(t, db); !cmp.Equal(of("a", got), []string{"1", "3", "6"}) {
		t.Errorf("skipped: %v", got)
	}
	db.Advance(time.Minute)
	workAll(t, db.SQLURL())
	db.Exec(`create or replace function app.ledger(p_event jsonb) returns void language plpgsql security definer set search_path = app, pg_temp as 'begin perform note(''a:resumed''); end';
		select core.lane_resume('app', 'ledger', ` + fmt.Sprint(lane) + `)`)
	workAll(t, db.SQLURL())
	if got := of("a", a.notes(t, db)); !cmp.Equal(got, []string{"1", "3", "6", "resumed", "resumed"}) {
		t.Errorf("resumed: %v", got)
	}
	if _, some := claimSQL(t, connect(t, db.SQLURL()), nil); some {
		t.Error("something is left")
	}
}

// Two that run at once share no lane, also when the lease of one has ended while its handler goes on.
// holds: LN5 (SQL handlers)
func TestTwoRunnersOfOrderedSQLHandlers(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	a := writesHandlers(t, db, "app")
	a.inOrder(t, "ledger", tellOrdered+` if p_event ->> 'payload' = 'slow' then perform pg_advisory_xact_lock(4711); end if;`, "")
	a.exec(t, `select pg_advisory_lock(4711)`)
	emitKeys(t, a.conn, "app", "a:slow a:2")
	conn := connect(t, db.SQLURL())
	c, _ := claimSQL(t, conn, nil)
	done := make(chan error)
	go func() { r, err := c.run(t, conn); done <- fmt.Errorf("%+v %w", r, err) }()
	db.Wait(`select exists (select from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database()))`)
	emitKeys(t, a.conn, "app", "c:1 c:2")
	workAll(t, db.SQLURL())
	db.Advance(time.Hour)
	workAll(t, db.SQLURL())
	if got := a.notes(t, db); !cmp.Equal(got, []string{"author c:1", "author c:2"}) {
		t.Errorf("beside the slow one: %v", got)
	}
	a.exec(t, `select pg_advisory_unlock(4711)`)
	if got := (<-done).Error(); got != "{Handled:1 Retried:0 Buried:0 Released:0 Lost:0} %!w(<nil>)" {
		t.Errorf("the slow one: %s", got)
	}
	// One that lost its lane, which another one has by now, does nothing.
	first, _ := claimSQL(t, conn, nil)
	db.Advance(time.Hour)
	if _, some := claimSQL(t, conn, nil); some {
		t.Error("it comes again without a pause")
	}
	db.Advance(time.Hour)
	second, _ := claimSQL(t, conn, nil)
	if r, err := first.run(t, conn); err != nil || r != (ran{Lost: 1}) {
		t.Errorf("a lost claim: %+v, %v", r, err)
	}
	if r, err := second.run(t, conn); err != nil || r != (ran{Handled: 1}) {
		t.Errorf("the one after it: %+v, %v", r, err)
	}
	// What it held is done, and its claim is worth nothing any more.
	if r, err := c.run(t, conn); err != nil || r != (ran{Lost: 1}) {
		t.Errorf("an old claim: %+v, %v", r, err)
	}
	if got := of("a", a.notes(t, db)); !cmp.Equal(got, []string{"slow", "2/2"}) {
		t.Errorf("of its lane: %v", got)
	}
	if got := column(t, db, `select concat_ws(' ', attempt, reason) from core.delivery_errors`); !cmp.Equal(got, []string{"1 lease ended"}) {
		t.Errorf("failed attempts: %v", got)
	}
}

// A handler that ends its session uses up its own attempts, and none of those that were in hand beside it.
// holds: LN7 (SQL handlers), D6
func TestAnOrderedEventThatKillsItsSQLRunner(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	a := writesHandlers(t, db, "app")
	a.inOrder(t, "ledger", tellOrdered+` if p_event ->> 'payload' = 'poison' then perform app.die(); end if;`, `, "retry": {"max_attempts": 2}`)
	db.Exec(`create function app.die() returns void language sql security definer as 'select pg_terminate_backend(pg_backend_pid())'`)
	emitKeys(t, a.conn, "app", "a:poison a:2 c:1 c:2")
	// What has failed is alone, and neither it nor others have all turns.
	alone := connect(t, db.SQLURL())
	seen := map[int32]int{}
	db.Exec(`update core_private.lanes set attempts = 1, next_at = '2000-01-01' where lane_id = (select max(lane_id) from core_private.lanes)`)
	for range 25 {
		if _, err := alone.Exec(t.Context(), "begin"); err != nil {
			t.Fatal(err)
		}
		c, _ := claimSQL(t, alone, nil)
		if len(c.cts) != 1 {
			t.Fatalf("claimed together: %v", c.cts)
		}
		seen[c.cts[0]]++
		if _, err := alone.Exec(t.Context(), "rollback"); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 2 {
		t.Errorf("turns: %v", seen)
	}
	db.Exec(`update core_private.lanes set attempts = 0, next_at = '-infinity'`)
	deaths := 0
	for range 20 {
		conn := connect(t, db.SQLURL())
		if c, some := claimSQL(t, conn, nil); some && len(c.ids) > 0 {
			if _, err := c.run(t, conn); err != nil {
				deaths++
			}
		}
		db.Advance(10 * time.Minute)
	}
	if got := column(t, db, `select concat_ws(' ', payload #>> '{}', attempts, reason) from core.dead_letters`); !cmp.Equal(got, []string{"poison 2 lease ended"}) {
		t.Errorf("dead letters: %v", got)
	}
	if got := a.notes(t, db); !cmp.Equal(of("a", got), []string{"2"}) || !cmp.Equal(of("c", got), []string{"1", "2"}) {
		t.Errorf("handled %v", got)
	}
	if deaths != 3 {
		t.Errorf("%d deaths: one in company and two alone are right", deaths)
	}
}

// What commits late is handled late, not lost: beside claims of nexus_sql and beside core.work, which runs in transactions that write events themselves.
// holds: LN3 (SQL handlers)
func TestLateCommitsInLanesOfSQLHandlers(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	a := writesHandlers(t, db, "app")
	a.inOrder(t, "ledger", tellOrdered+` if p_event ->> 'payload' = 'again' then
		perform core.emit('app', 'moved', '"echo"', jsonb_build_object('ordering_key', p_event ->> 'orderingKey')); end if;`, "")
	_, url := db.As("nexus_producer")
	late, last := connect(t, url), connect(t, url)
	begin := func(conn *pgx.Conn, sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	begin(late, "begin")
	emitKeys(t, late, "app", "a:late1")
	emitKeys(t, a.conn, "app", "a:1 a:again")
	workAll(t, db.SQLURL())
	emitKeys(t, late, "app", "a:late2")
	begin(late, "commit")
	workAll(t, db.SQLURL())
	want := []string{"1", "again", "late1", "echo", "late2"}
	if got := of("a", a.notes(t, db)); len(got) != 5 || !cmp.Equal(strings.Join(got[:2], " "), "1 again") || !sameWords(got, want) {
		t.Errorf("by nexus_sql: %v", got)
	}

	// The owner's own: a transaction that has written before, what is in it already, what its handlers and it emit later.
	work := func() { begin(a.conn, `select core.work('app')`) }
	for i, own := range []string{"begin; select core.work('app')", "begin; create temporary table t () on commit drop"} {
		a.exec(t, `delete from app.notes`)
		begin(late, "begin")
		emitKeys(t, late, "app", "c:late1")
		emitKeys(t, connect(t, url), "app", "c:0")
		begin(a.conn, own)
		emitKeys(t, a.conn, "app", "c:1")
		other := connect(t, url) // commits within the transaction
		emitKeys(t, other, "app", "c:again")
		begin(last, "begin") // the latest of all, and open
		emitKeys(t, last, "app", "c:last")
		work()
		begin(last, "commit")
		emitKeys(t, a.conn, "app", "c:2")
		emitKeys(t, other, "app", "c:3")
		work()
		begin(a.conn, "commit")
		emitKeys(t, late, "app", "c:late2")
		begin(late, "commit")
		for range 3 {
			work()
		}
		if got := of("c", a.notes(t, db)); !sameWords(got, []string{"0", "1", "again", "echo", "2", "3", "late1", "late2", "last"}) {
			t.Errorf("by core.work, %d: %v", i, got)
		}
		if n := dbtest.Get[int](db, `select sum(lag)::int from core.lane_status where namespace = 'app'`); n != 0 {
			t.Errorf("%d are left", n)
		}
	}
}

func sameWords(a, b []string) bool {
	count := map[string]int{}
	for _, w := range a {
		count[w]++
	}
	for _, w := range b {
		count[w]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// What fails at the commit is one failed attempt, and the lane stands at it; the others go on.
// holds: H4 (a commit that fails)
func TestACommitThatFailsInALane(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	a := writesHandlers(t, db, "app")
	a.exec(t, `create table app.parents (id int primary key); create table app.children (parent int references app.parents deferrable initially deferred)`)
	a.inOrder(t, "ledger", tellOrdered+` if p_event ->> 'payload' = 'orphan' then insert into app.children values (1); end if;`, "")
	emitKeys(t, a.conn, "app", "a:1 a:orphan a:3 c:1 c:2 c:3")
	workAll(t, db.SQLURL())
	if got := a.notes(t, db); !cmp.Equal(of("a", got), []string{"1"}) || !cmp.Equal(of("c", got), []string{"1", "2", "3"}) {
		t.Errorf("committed: %v", got)
	}
	if got := column(t, db, `select concat_ws(' ', attempt, action, reason, left(error, 6)) from core.delivery_errors`); !cmp.Equal(got, []string{"1 retry commit 23503:"}) {
		t.Errorf("failed: %v", got)
	}
	a.exec(t, `insert into app.parents values (1)`)
	db.Advance(time.Hour)
	// By the owner, as nexus-node work does.
	for range 3 {
		var id int32
		var ids []int64
		var cts []int32
		var ats []time.Time
		if err := a.conn.QueryRow(t.Context(), `select consumer_id, ids, cts, ats from core_node.claim_own('app')`).Scan(&id, &ids, &cts, &ats); err != nil {
			t.Fatal(err)
		}
		if len(of("a", a.notes(t, db))) == 2 {
			var outcome string
			if err := a.conn.QueryRow(t.Context(), `select outcome from core_node.fail_own($1, $2, $3, $4, 'x')`, id, ids, cts, ats).Scan(&outcome); err != nil || outcome != "retried" {
				t.Errorf("failed: %q, %v", outcome, err)
			}
			break
		}
		if _, err := a.conn.Exec(t.Context(), `select core_node.run_own($1, $2, $3, $4)`, id, ids, cts, ats); err != nil {
			t.Fatal(err)
		}
	}
	if got := column(t, db, `select concat_ws(' ', seq, attempts) from core.lane_status where namespace = 'app' order by seq`); !cmp.Equal(got, []string{"2 1", "3 0"}) {
		t.Errorf("lanes: %v", got)
	}
}
