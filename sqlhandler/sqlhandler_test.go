package sqlhandler_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/sqlhandler"
)

// author is the pool of a login that owns a schema with a table of notes, and functions that handle events.
func author(t *testing.T, db *dbtest.DB, schema string) *pgxpool.Pool {
	t.Helper()
	login, url := db.As("nexus_consumer")
	db.Exec("create schema " + schema + " authorization " + login)
	t.Cleanup(func() { _, _ = db.Owner.Exec(context.Background(), "drop schema "+schema+" cascade") })
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	exec(t, pool, `create table `+schema+`.notes (said text)`)
	exec(t, pool, `grant usage on schema `+schema+` to nexus_guard`)
	return pool
}

func exec(t *testing.T, pool *pgxpool.Pool, sql string) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func function(t *testing.T, pool *pgxpool.Pool, schema, body string) (name string) {
	t.Helper()
	name = schema + ".on_event(jsonb)"
	exec(t, pool, `create or replace function `+schema+`.on_event(p_event jsonb) returns void language plpgsql security definer
		set search_path = `+schema+`, pg_temp as $handler$ `+body+` $handler$`)
	exec(t, pool, `revoke execute on function `+name+` from public`)
	exec(t, pool, `grant execute on function `+name+` to nexus_guard`)
	return name
}

// holds: H4
func TestSubscribeAndWork(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	ctx := t.Context()
	db.Namespace("shop")
	pool := author(t, db, "app")
	const on = `begin
		insert into notes values (p_event ->> 'payload');
		case p_event ->> 'payload' when '1' then perform core.reject_event('no'); when '2' then perform core.retry_event('1 h'); when '3' then perform core.release_event('1 h'); else end case;
	end`
	name := function(t, pool, "app", on)
	opts := &sqlhandler.Options{Consumer: "mine", Timeout: time.Minute, MaxInFlight: 200, Retry: nexus.RetryPolicy{MaxAttempts: 3}, FromBeginning: true}
	for range 2 { // the second time nothing happens
		if consumer, err := sqlhandler.Subscribe(ctx, pool, "shop", "a.*", name, opts); err != nil || consumer != "mine" {
			t.Fatalf("Subscribe: %q, %v", consumer, err)
		}
	}
	if _, err := sqlhandler.Subscribe(ctx, pool, "shop", "a.*", name, &sqlhandler.Options{Consumer: "mine", Timeout: time.Hour}); !errors.Is(err, nexus.ErrConflict) {
		t.Errorf("another timeout: %v", err)
	}
	if _, err := sqlhandler.Subscribe(ctx, pool, "shop", "a.*", name, &sqlhandler.Options{FromBeginning: true, FromTime: time.Now()}); !errors.Is(err, nexus.ErrInvalid) {
		t.Errorf("from two places: %v", err)
	}
	db.Exec(`select core.emit('shop', 'a.b', to_jsonb(n)) from generate_series(1, 120) n`)
	got, err := sqlhandler.Work(ctx, pool, "shop", 7)
	if err != nil || got != (sqlhandler.Counts{Handled: 4, Retried: 1, Buried: 1, Released: 1}) {
		t.Errorf("seven: %+v, %v", got, err)
	}
	if got, err := sqlhandler.Work(ctx, pool, "shop", 0); err != nil || got != (sqlhandler.Counts{Handled: 113}) {
		t.Errorf("the rest: %+v, %v", got, err)
	}
	if got, err := sqlhandler.Work(ctx, db.Pool, "shop", 0); err != nil || got != (sqlhandler.Counts{}) {
		t.Errorf("of another: %+v, %v", got, err)
	}
	if had, err := sqlhandler.Unsubscribe(ctx, pool, "shop", "mine"); err != nil || !had {
		t.Errorf("Unsubscribe: %t, %v", had, err)
	}
	if had, err := sqlhandler.Unsubscribe(ctx, pool, "shop", "mine"); err != nil || had {
		t.Errorf("Unsubscribe once more: %t, %v", had, err)
	}
}

// A death of the session uses an attempt of what ran in it, and of nothing else.
// holds: H4, D6
func TestWorkCountsDeaths(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	ctx := t.Context()
	db.Namespace("shop")
	pool := author(t, db, "app")
	name := function(t, pool, "app", `begin
		if p_event ->> 'eventType' = 'poison' then perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(60); end if;
		insert into notes values (p_event ->> 'eventType');
	end`)
	if _, err := sqlhandler.Subscribe(ctx, pool, "shop", "*", name, &sqlhandler.Options{Retry: nexus.RetryPolicy{MaxAttempts: 3}}); err != nil {
		t.Fatal(err)
	}
	db.Exec(`select core.emit_batch('shop', '{good,poison,good}', array_fill('{}'::jsonb, array[3]))`)
	for round := 0; dbtest.Get[int](db, `select count(*)::int from pgmq.q_core_events_shop__on_event`) > 0; round++ {
		if round > 10 {
			t.Fatal("it never ends")
		}
		if _, err := sqlhandler.Work(ctx, pool, "shop", 0); err != nil {
			t.Fatal(err)
		}
		db.Advance(10 * time.Minute)
	}
	if got := dbtest.Get[string](db, `select string_agg(event_type || ' ' || attempts || ' ' || reason, ',') from core.dead_letters`); got != "poison 3 not acknowledged (process lost)" {
		t.Errorf("dead letters: %s", got)
	}
	if got := dbtest.Get[int](db, `select count(*)::int from app.notes`); got != 2 {
		t.Errorf("%d are handled", got)
	}
}

// What cannot be committed fails alone.
// holds: H4
func TestWorkThatFailsAtCommit(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	ctx := t.Context()
	db.Namespace("shop")
	pool := author(t, db, "app")
	exec(t, pool, `create table app.parent (id int primary key)`)
	exec(t, pool, `create table app.child (id int references app.parent deferrable initially deferred)`)
	name := function(t, pool, "app", `begin insert into notes values (p_event ->> 'payload'); if p_event ->> 'payload' = '2' then insert into child values (1); end if; end`)
	if _, err := sqlhandler.Subscribe(ctx, pool, "shop", "*", name, nil); err != nil {
		t.Fatal(err)
	}
	db.Exec(`select core.emit('shop', 'a', to_jsonb(n)) from generate_series(1, 3) n`)
	if got, err := sqlhandler.Work(ctx, pool, "shop", 0); err != nil || got != (sqlhandler.Counts{Handled: 2, Retried: 1}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got := dbtest.Get[string](db, `select attempt || reason || left(error, 6) from core.delivery_errors`); got != "1commit23503:" {
		t.Error(got)
	}
}

// Only a handler's owner runs it in a session of his.
// holds: H4
func TestWorkIsForOnesOwn(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	ctx := t.Context()
	db.Namespace("shop")
	pool := author(t, db, "app")
	name := function(t, pool, "app", `begin insert into notes values ('ran'); end`)
	if _, err := sqlhandler.Subscribe(ctx, pool, "shop", "*", name, nil); err != nil {
		t.Fatal(err)
	}
	db.Exec(`select core.emit('shop', 'a')`)
	var id int
	var ids []int64
	var cts []int32
	var ats []time.Time
	if err := pool.QueryRow(ctx, `select consumer_id, ids, cts, ats from core_node.claim_own('shop')`).Scan(&id, &ids, &cts, &ats); err != nil {
		t.Fatal(err)
	}
	for who, q := range map[string]*pgxpool.Pool{"another consumer": db.Pool, "a superuser": db.Owner} {
		_, err := q.Exec(ctx, `select core_node.run_own($1, $2, $3, $4)`, id, ids, cts, ats)
		if err == nil || !strings.Contains(err.Error(), "NX401") {
			t.Errorf("%s: %v", who, err)
		}
	}
	if got := dbtest.Get[int](db, `select count(*)::int from app.notes`); got != 0 {
		t.Error("it ran")
	}
	exec(t, pool, `revoke execute on function `+name+` from nexus_guard`)
	if got, err := sqlhandler.Work(ctx, pool, "shop", 0); err != nil || got != (sqlhandler.Counts{}) {
		t.Errorf("one that may not be called: %+v, %v", got, err)
	}
}

// holds: H4
func TestRunner(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	db.Namespace("shop")
	pool := author(t, db, "app")
	name := function(t, pool, "app", `begin insert into notes values (session_user); end`)
	if _, err := sqlhandler.Subscribe(t.Context(), pool, "shop", "*", name, nil); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	n := node.New(db.Pool, node.Config{Namespace: "shop"})
	n.Add(&sqlhandler.Runner{URL: db.SQLURL()})
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	db.Exec(`select core.emit('shop', 'a')`)
	db.Wait(`select exists (select from app.notes where said = 'nexus_sql')`)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	n = node.New(db.Pool, node.Config{Namespace: "shop"})
	n.Add(&sqlhandler.Runner{URL: "postgres://nexus_sql:secret@host:x/db"})
	if err := n.Run(t.Context()); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("no URL: %v", err)
	}
}
