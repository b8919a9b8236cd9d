package nexussql_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/pgdev"
)

// change is a row that a writer changed by one statement, which the table's rows tell apart: no two have the same v.
type change struct {
	what         string // insert 7 70
	begun, ended time.Time
	kept         bool // its transaction was committed
}

// spell is a time during which every change has to be a mutation, or none.
type spell struct {
	on           bool
	begun, ended time.Time
}

// K2, K6: whoever writes the table while it is watched, switched off and on and let go loses nothing and waits for nobody for long; each change after
// a commit goes by what that commit said, and none is a mutation twice.
// holds: K2 (beside writers), K6 (beside writers)
func TestAWatchBesideWriters(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	login, url := db.As("nexus_producer", "nexus_operator")
	db.Exec(`create schema app authorization ` + login)
	db.Exec(`grant nexus_consumer to ` + login)
	owner := connectTo(t, url)
	does(t, owner, `create table app.orders (id bigint primary key, v bigint)`)
	does(t, owner, `create table app.other (id bigint)`)
	does(t, owner, `select core.create_trigger('shop', 'each', '{"kv": {"collection": "orders"}}', 'go:mail')`)

	// A turn is a statement of a writer, which takes none of its time where nobody waits for one.
	turns, done := make(chan struct{}), make(chan struct{})
	turn := func() {
		select {
		case turns <- struct{}{}:
		default:
		}
	}
	const writers = 8
	var (
		ids, values atomic.Int64
		truncates   atomic.Int64
		changes     [writers][]change
		failed      [writers]error
		all         sync.WaitGroup
	)
	for w := range writers {
		conn := connectTo(t, url)
		all.Go(func() {
			changes[w], failed[w] = writes(t.Context(), conn.Conn, w, &ids, &values, &truncates, done, turn)
		})
	}
	spells := []spell{{begun: time.Now()}}
	next := func(on bool, sql string) {
		t.Helper()
		for range 3 * writers {
			<-turns
		}
		spells[len(spells)-1].ended = time.Now()
		for {
			err := owner.Exec(t.Context(), sql)
			var e *pgconn.PgError
			if errors.As(err, &e) && e.Code == "55P03" { // a busy machine
				continue
			} else if err != nil {
				t.Error(sql, err)
			}
			break
		}
		spells = append(spells, spell{on: on, begun: time.Now()})
	}
	rounds := 3
	if os.Getenv("NEXUS_TEST_LONG") != "" {
		rounds = 40
	}
	for range rounds {
		next(true, `select core.watch_table('shop', 'app.orders', 'orders', '{"lock_timeout": "1 min"}')`)
		next(false, `select core.switch_watch(watch_id, false) from core.watch_status`)
		next(true, `select core.switch_watch(watch_id, true) from core.watch_status`)
		next(false, `select core.unwatch_table('app.orders')`)
	}
	spells[len(spells)-1].ended = time.Now()
	close(done)
	all.Wait()
	for w, err := range failed {
		if err != nil {
			t.Errorf("writer %d: %v", w, err)
		}
	}

	seen := map[string]int{}
	rows, _ := db.Owner.Query(t.Context(), `
		select concat_ws(' ', message #>> '{payload,op}', coalesce(message #>> '{payload,new,id}', message #>> '{payload,old,id}'),
		                 coalesce(message #>> '{payload,new,v}', message #>> '{payload,old,v}'))
		  from pgmq.q_core_events_shop__triggers`)
	mutations, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutations {
		seen[m]++
	}
	var judged, on int
	for _, c := range changes {
		for _, c := range c {
			if !c.kept { // it is what nobody did, or somebody else
				continue
			}
			got := seen[c.what]
			delete(seen, c.what)
			if got > 1 {
				t.Errorf("%s is a mutation %d times", c.what, got)
			}
			for _, s := range spells {
				if c.begun.Before(s.begun) || c.ended.After(s.ended) {
					continue
				}
				judged++
				if s.on {
					on++
				}
				if (got == 1) != s.on {
					t.Errorf("%s, begun %v after what makes it on %t, is a mutation %d times", c.what, c.begun.Sub(s.begun), s.on, got)
				}
			}
		}
	}
	if n := seen["truncate"]; n > int(truncates.Load()) {
		t.Errorf("%d mutations of %d truncates", n, truncates.Load())
	}
	delete(seen, "truncate")
	if len(seen) > 0 {
		t.Errorf("mutations of what nobody did: %v", seen)
	}
	if on < 20 || judged-on < 20 {
		t.Errorf("only %d changes came while the table was watched, and %d while it was not", on, judged-on)
	}
	t.Logf("%d changes while watched, %d while not, %d mutations, %d truncates", on, judged-on, len(mutations), truncates.Load())
}

// writes writes to app.orders by all kinds of statements, in transactions of which some are open already when the table is watched and write it later, and some are rolled back.
func writes(
	ctx context.Context, conn *pgx.Conn, w int, ids, values, truncates *atomic.Int64, done <-chan struct{}, turn func(),
) (all []change, err error) {
	for n := 0; ; n++ {
		select {
		case <-done:
			return all, nil
		default:
		}
		tx, err := conn.Begin(ctx)
		if err != nil {
			return all, err
		}
		// It has an id and has locked another table when others change this one.
		if _, err := tx.Exec(ctx, `insert into app.other values ($1)`, w); err != nil {
			return all, err
		}
		turn()
		var mine []change
		for i := range 2 {
			begun := time.Now()
			what, err := writeOnce(ctx, tx, w+n+i*3, ids, values, truncates)
			if err != nil {
				return all, err
			}
			ended := time.Now()
			for _, what := range what {
				mine = append(mine, change{what: what, begun: begun, ended: ended})
			}
			turn()
		}
		if n%5 == 4 {
			err = tx.Rollback(ctx)
		} else {
			err = tx.Commit(ctx)
		}
		if err != nil {
			return all, err
		}
		for _, c := range mine {
			c.kept = n%5 != 4
			all = append(all, c)
		}
	}
}

// writeOnce does one statement of the kind and says what it changed.
func writeOnce(ctx context.Context, tx pgx.Tx, kind int, ids, values, truncates *atomic.Int64) (what []string, err error) {
	const many = 12 // more than are made one by one
	v := values.Add(many) - many
	id := ids.Add(many) - many
	sql := ""
	switch kind % 7 {
	case 0:
		sql = fmt.Sprintf(`insert into app.orders values (%d, %d) returning 'insert ' || id || ' ' || v`, id, v)
	case 1:
		sql = fmt.Sprintf(`insert into app.orders select %d + g, %d + g from generate_series(0, %d) g returning 'insert ' || id || ' ' || v`, id, v, many-1)
	case 2, 3: // rows that others hold are left to them
		limit := map[int]int{2: 1, 3: many}[kind%7]
		sql = fmt.Sprintf(`update app.orders o set v = %d + x.n from (
			select id, row_number() over () - 1 as n from (select id from app.orders order by id desc limit %d for update skip locked) y) x
			where o.id = x.id returning 'update ' || o.id || ' ' || o.v`, v, limit)
	case 4:
		sql = `delete from app.orders where id = (select id from app.orders order by id limit 1 for update skip locked) returning 'delete ' || id || ' ' || v`
	case 5:
		var rows [][]any
		for i := range int64(many) {
			rows = append(rows, []any{id + i, v + i})
			what = append(what, fmt.Sprintf("insert %d %d", id+i, v+i))
		}
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"app", "orders"}, []string{"id", "v"}, pgx.CopyFromRows(rows))
		return what, err
	case 6:
		// A transaction that has written the table would wait for others that have, and they for it.
		if kind%21 != 6 {
			return nil, nil
		}
		_, err := tx.Exec(ctx, `savepoint before; set local lock_timeout = '200 ms'`)
		if err != nil {
			return nil, err
		}
		var e *pgconn.PgError
		switch _, err = tx.Exec(ctx, `truncate app.orders`); {
		case err == nil:
			truncates.Add(1)
			_, err = tx.Exec(ctx, `set local lock_timeout = 0`)
			return nil, err
		case errors.As(err, &e) && (e.Code == "55P03" || e.Code == "40P01"):
			_, err = tx.Exec(ctx, `rollback to savepoint before`)
			return nil, err
		}
		return nil, err
	}
	rows, _ := tx.Query(ctx, sql)
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// K2, K3: what the worker of a logical replication applies is mutations of a table watched with replica, and of no other.
// holds: K2 (replication), K3 (replication)
func TestAWatchOfWhatReplicationApplies(t *testing.T) {
	c := dbtest.Cluster(t, pgdev.Options{Settings: map[string]string{"wal_level": "logical"}}, dbtest.BuildTemplate)
	here := connectTo(t, c.URL(pgdev.TestCronDatabase))
	does(t, here, `create database origin`)
	there := connectTo(t, c.URL("origin"))
	for _, s := range []session{there, here} {
		does(t, s, `create schema app; create table app.plain (id integer primary key, v text); create table app.replica (like app.plain including all);
			insert into app.plain values (1, 'before')`)
	}
	does(t, there, `create publication orders for table app.plain, app.replica`)
	does(t, there, `select pg_create_logical_replication_slot('orders', 'pgoutput')`)
	for _, sql := range []string{
		`select core.create_namespace('shop')`,
		`select core.create_trigger('shop', 'each', '{"kv": {"collection": "*"}}', 'go:mail')`,
		`select core.watch_table('shop', 'app.plain', 'plain'), core.watch_table('shop', 'app.replica', 'replica', '{"replica": true}')`,
		`create subscription orders connection ` + quoted(c.URL("origin")) + ` publication orders with (create_slot = false, slot_name = 'orders', copy_data = false)`,
	} {
		does(t, here, sql)
	}
	for _, table := range []string{"plain", "replica"} {
		does(t, there, `insert into app.`+table+` select g, 'a' from generate_series(10, 20) g`)
		does(t, there, `update app.`+table+` set v = 'b' where id < 12`)
		does(t, there, `delete from app.`+table+` where id = 10`)
		does(t, there, `truncate app.`+table)
	}
	does(t, there, `insert into app.plain values (99, 'last')`)
	arrived := false
	for !arrived && t.Context().Err() == nil {
		if err := here.QueryRow(t.Context(), `select exists (select from app.plain where id = 99)`).Scan(&arrived); err != nil {
			t.Fatal(err)
		}
	}
	var got string
	const counts = `select string_agg(concat_ws(' ', type, n), ', ' order by type) from (
		select message ->> 'sourceType' as type, count(*) as n from pgmq.q_core_events_shop__triggers group by 1) x`
	if err := here.QueryRow(t.Context(), counts).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if want := "kv.replica.delete 1, kv.replica.insert 11, kv.replica.truncate 1, kv.replica.update 2"; got != want {
		t.Errorf("what was applied are the mutations %s, not %s", got, want)
	}
	does(t, here, `delete from pgmq.q_core_events_shop__triggers; insert into app.plain values (100, 'here'); insert into app.replica values (100, 'here')`)
	if err := here.QueryRow(t.Context(), counts).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if want := "kv.plain.insert 1, kv.replica.insert 1"; got != want {
		t.Errorf("what was written here are the mutations %s, not %s", got, want)
	}
	does(t, here, `drop subscription orders`)
}

func connectTo(t *testing.T, url string) session {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return session{conn}
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// K1: a transaction whose snapshot is older than the watch leaves no change without its mutation: it is told to run again, by statement, by row and for a TRUNCATE. One
// that is older than the trigger alone goes by the triggers that it sees.
// holds: K1 (REPEATABLE READ)
func TestAnOldSnapshotDoesNotGoAroundAWatch(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`create table public.orders (id integer primary key); create table public.parts (id integer) partition by range (id); create table public.part partition of public.parts for values from (0) to (9)`, pgx.QueryExecModeSimpleProtocol)
	old, older := open(t, db), open(t, db)
	const begin, look = "begin isolation level repeatable read", "select count(*) from core.watched_tables"
	does(t, older, begin)
	does(t, older, look)
	db.Exec(`select core.watch_table('shop', 'public.orders', 'orders'), core.watch_table('shop', 'public.parts', 'orders')`)
	does(t, old, begin)
	does(t, old, look)
	db.Exec(`select core.create_trigger('shop', 'mail', '{"kv": {"collection": "orders"}}', 'go:mail')`)
	for _, sql := range []string{"insert into public.orders values (1)", "insert into public.parts values (1)", "truncate public.orders"} {
		does(t, older, "savepoint s")
		if pg, ok := errors.AsType[*pgconn.PgError](older.Exec(t.Context(), sql)); !ok || pg.Code != "40001" {
			t.Errorf("%s: %v", sql, pg)
		}
		does(t, older, "rollback to s")
	}
	does(t, older, "rollback")
	does(t, old, "insert into public.orders values (2)")
	does(t, old, "commit")
	does(t, older, begin)
	does(t, older, "insert into public.orders values (3)")
	does(t, older, "commit")
	if got := dbtest.Get[string](db, `select string_agg(message #>> '{payload,new,id}', ' ') from pgmq.q_core_events_shop__triggers`); got != "3" {
		t.Errorf("mutations of %s", got)
	}
}
