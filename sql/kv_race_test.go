package nexussql_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/internal/dbtest"
)

type written struct {
	Done    bool
	Version *int64
}

// write runs a function of the store, again where the transaction has to.
func write(t *testing.T, s session, sql string, args ...any) (w written) {
	t.Helper()
	for {
		err := s.QueryRow(t.Context(), "select done, version from "+sql, args...).Scan(&w.Done, &w.Version)
		if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "40001" {
			continue
		}
		if err != nil {
			t.Error(err)
		}
		return w
	}
}

// K7: whoever adds one to what he read adds it to what was there: no update is lost, however many write at once, while the key is
// deleted and made anew between them. At repeatable read, too, where who comes second has to begin again.
// holds: K7 (no lost update)
func TestCompareAndSetLosesNothing(t *testing.T) {
	for _, isolation := range []string{"read committed", "repeatable read"} {
		t.Run(isolation, func(t *testing.T) {
			db := dbtest.New(t)
			db.Namespace("shop")
			const writers, each = 6, 40
			var wg sync.WaitGroup
			// Each key's value is the number of times that it was added to, deletions included: who deletes notes it elsewhere.
			for w := range writers {
				s := open(t, db)
				does(t, s, "set default_transaction_isolation = '"+isolation+"'")
				r := rand.New(rand.NewSource(int64(w)))
				wg.Go(func() {
					for range each {
						key := fmt.Sprint("k", r.Intn(2))
						for t.Context().Err() == nil {
							var n, version int64
							err := s.QueryRow(t.Context(), `select value::bigint, version from core.kv_get('shop', 'c', $1)`, key).Scan(&n, &version)
							if err != nil && !errors.Is(err, pgx.ErrNoRows) {
								t.Error(err)
								return
							}
							if version > 0 && r.Intn(5) == 0 {
								if !write(t, s, `core.kv_delete('shop', 'c', $1, $2)`, key, version).Done {
									continue
								}
								// What was there is kept in the name of a key of its own.
								if !write(t, s, `core.kv_set('shop', 'gone', $1, to_jsonb($2::bigint), '{"if_absent": true}')`, fmt.Sprint(version), n).Done {
									t.Error("two have deleted the same version")
									return
								}
								continue
							}
							if write(t, s, `core.kv_cas('shop', 'c', $1, to_jsonb($2::bigint), $3)`, key, n+1, version).Done {
								break
							}
						}
					}
				})
			}
			wg.Wait()
			if got := dbtest.Get[int](db, `select coalesce(sum(value::int), 0)::int from core.kv`); got != writers*each {
				t.Errorf("of %d additions %d are there", writers*each, got)
			}
		})
	}
}

// K7: of those who come at once one makes the key, one sets what all have read, one deletes it.
// holds: K7 (one of many)
func TestOneOfManyIsDone(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	const many = 6
	sessions := make([]session, many)
	for i := range sessions {
		sessions[i] = open(t, db)
	}
	// All calls are under way before the first can end: it waits for the lock of a key, or for who makes it.
	atOnce := func(t *testing.T, sql string, args ...any) (done int, last written) {
		t.Helper()
		var wg sync.WaitGroup
		var mu sync.Mutex
		for _, s := range sessions {
			wg.Go(func() {
				w := write(t, s, sql, args...)
				mu.Lock()
				defer mu.Unlock()
				if w.Done {
					done++
					last = w
				}
			})
		}
		wg.Wait()
		return done, last
	}
	for round := range 20 {
		key := fmt.Sprint("k", round)
		done, made := atOnce(t, `core.kv_set('shop', 'c', $1, to_jsonb(pg_backend_pid()), '{"if_absent": true}')`, key)
		if done != 1 {
			t.Fatalf("%d have made the key", done)
		}
		done, set := atOnce(t, `core.kv_cas('shop', 'c', $1, to_jsonb(pg_backend_pid()), $2)`, key, *made.Version)
		if done != 1 || *set.Version <= *made.Version {
			t.Fatalf("%d have set it, and its version is %d after %d", done, *set.Version, *made.Version)
		}
		if done, _ = atOnce(t, `core.kv_delete('shop', 'c', $1, $2)`, key, *set.Version); done != 1 {
			t.Fatalf("%d have deleted it", done)
		}
		if done, _ = atOnce(t, `core.kv_cas('shop', 'c', $1, to_jsonb(pg_backend_pid()), 0)`, key); done != 1 {
			t.Fatalf("%d have made it anew", done)
		}
	}
}

// K7: who waited for a key sees what has become of it meanwhile: set, deleted, not done after all, or expired by the clock of then.
// holds: K7 (who waits)
func TestWhoWaitsForAKeyLooksAgain(t *testing.T) {
	const (
		old     = `core.kv_cas('shop', 'c', 'k', '"waiter"', (select version from public.seen))`
		absent  = `core.kv_set('shop', 'c', 'k', '"waiter"', '{"if_absent": true}')`
		present = `core.kv_set('shop', 'c', 'k', '"waiter"', '{"if_present": true}')`
		anyhow  = `core.kv_set('shop', 'c', 'k', '"waiter"')`
		gone    = `core.kv_delete('shop', 'c', 'k', (select version from public.seen))`
	)
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`create table public.seen (version bigint)`)
	holder, waiter := open(t, db), open(t, db)
	var pid int
	if err := waiter.QueryRow(t.Context(), "select pg_backend_pid()").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, before, held, end string
		expire                  bool
		waits                   string
		done                    bool
		value                   string
	}{
		{"set meanwhile", "core.kv_set('shop', 'c', 'k', '1')", "core.kv_set('shop', 'c', 'k', '2')", "commit", false, old, false, "2"},
		{"set meanwhile, deleted by version", "core.kv_set('shop', 'c', 'k', '1')", "core.kv_set('shop', 'c', 'k', '2')", "commit", false, gone, false, "2"},
		{"not set after all", "core.kv_set('shop', 'c', 'k', '1')", "core.kv_set('shop', 'c', 'k', '2')", "rollback", false, old, true, `"waiter"`},
		{"deleted meanwhile", "core.kv_set('shop', 'c', 'k', '1')", "core.kv_delete('shop', 'c', 'k')", "commit", false, old, false, ""},
		{"deleted meanwhile, set if absent", "core.kv_set('shop', 'c', 'k', '1')", "core.kv_delete('shop', 'c', 'k')", "commit", false, absent, true, `"waiter"`},
		{"deleted meanwhile, set if present", "core.kv_set('shop', 'c', 'k', '1')", "core.kv_delete('shop', 'c', 'k')", "commit", false, present, false, ""},
		{"made meanwhile", "", "core.kv_set('shop', 'c', 'k', '2')", "commit", false, absent, false, "2"},
		{"made meanwhile, set anyhow", "", "core.kv_set('shop', 'c', 'k', '2')", "commit", false, anyhow, true, `"waiter"`},
		{"not made after all", "", "core.kv_set('shop', 'c', 'k', '2')", "rollback", false, absent, true, `"waiter"`},
		{"expired meanwhile", "core.kv_set('shop', 'c', 'k', '1')", "core.kv_set('shop', 'c', 'k', '2', '{\"ttl\": \"1 h\"}')", "commit", true, absent, true, `"waiter"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			db.SetNow(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
			db.Exec(`delete from core.kv_entries`)
			db.Exec(`truncate public.seen`)
			if test.before != "" {
				db.Exec(`insert into public.seen select version from ` + test.before)
			}
			does(t, holder, "begin")
			does(t, holder, "select "+test.held)
			answer := make(chan written)
			go func() { answer <- write(t, waiter, test.waits) }()
			db.Wait(`select exists (select from pg_locks where pid = $1 and not granted)`, pid)
			if test.expire {
				db.Advance(2 * time.Hour)
			}
			does(t, holder, test.end)
			if got := <-answer; got.Done != test.done {
				t.Errorf("done: %t", got.Done)
			}
			if got := dbtest.Get[string](db, `select coalesce((select value::text from core.kv_get('shop', 'c', 'k')), '')`); got != test.value {
				t.Errorf("the value is %s", got)
			}
		})
	}
}

// K7: a key that is set goes with its namespace, or is refused because that is gone.
// holds: K7 (a namespace that is dropped)
func TestAKeyGoesWithItsNamespace(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Namespace("mall")
	setting, dropping := open(t, db), open(t, db)
	var pid int
	if err := dropping.QueryRow(t.Context(), "select pg_backend_pid()").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	does(t, setting, "begin")
	does(t, setting, `select core.kv_set('shop', 'c', 'k', '1')`)
	dropped := make(chan error)
	go func() { dropped <- dropping.Exec(t.Context(), `select core.drop_namespace('shop', 'shop')`) }()
	db.Wait(`select exists (select from pg_locks where pid = $1 and not granted)`, pid)
	does(t, setting, "commit")
	if err := <-dropped; err != nil {
		t.Fatal(err)
	}
	does(t, dropping, "begin")
	does(t, dropping, `select core.drop_namespace('mall', 'mall')`)
	set := make(chan error)
	if err := setting.QueryRow(t.Context(), "select pg_backend_pid()").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	go func() { set <- setting.Exec(t.Context(), `select core.kv_set('mall', 'c', 'k', '1')`) }()
	db.Wait(`select exists (select from pg_locks where pid = $1 and not granted)`, pid)
	does(t, dropping, "commit")
	if e, ok := errors.AsType[*pgconn.PgError](<-set); !ok || e.Code != "NX101" {
		t.Errorf("a key of a namespace that was dropped meanwhile: %v", e)
	}
	if n := dbtest.Get[int](db, "select count(*)::int from core.kv_entries"); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

// K7: a key, a page by prefix and a batch of the sweep are found by an index, among many: without statistics, with them, and by the
// plan that is kept after some calls.
// holds: K7 (pages read, by EXPLAIN)
func TestKeysAreFoundAmongMany(t *testing.T) {
	many := 60_000
	if os.Getenv("NEXUS_TEST_LONG") != "" {
		many = 1_000_000
	}
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Namespace("mall")
	db.Exec(`alter table core.kv_entries set (autovacuum_enabled = off)`)
	db.Exec(`insert into core.kv_entries (namespace, collection, key, value, version, created_at, updated_at, expires_at, updated_by)
		select 'shop', case when g % 20 = 0 then 'few' else 'many' end, 'user/' || g % 1000 || '/' || g, jsonb_build_object('pad', repeat('x', 200)), g, now(), now(),
		       case when g % 10 = 0 then now() + interval '1 day' when g % 100 = 1 then now() - interval '1 day' end, 'x' from generate_series(1, $1::int) g`, many)
	conn := open(t, db)
	for _, statistics := range []bool{false, true} {
		if statistics {
			db.Exec(`vacuum analyze core.kv_entries`)
		}
		for _, c := range []struct {
			query string
			pages int
		}{
			{`select * from core.kv_get('shop', 'many', 'user/7/1007')`, 12},
			{`select * from core.kv_list('shop', 'many', 'user/7/', p_limit => 10)`, 80}, // a cursor reads 50 rows ahead
			{`select * from core.kv_list('shop', 'many', 'user/7/', 'user/7/2007', p_limit => 10)`, 80},
			{`select * from core.kv_list('shop', 'many', 'zzz')`, 12},
			{`select * from core.kv_list('mall', 'many')`, 12},
			{`select * from core.kv where namespace = 'shop' and collection = 'many' and key = 'user/7/1007'`, 12},
			{`select * from core.kv where namespace = 'shop' and collection = 'many' and starts_with(key, 'user/7/') order by key limit 10`, 30},
			{`select * from core.kv_cas('shop', 'many', 'user/7/1007', '1', 1)`, 20},
			{`select * from core.kv_delete('shop', 'many', 'user/7/none')`, 20},
		} {
			for range 7 { // the plan is kept from the sixth on; and catalogs are read, too
				does(t, conn, c.query)
			}
			var text string
			if err := conn.QueryRow(t.Context(), "explain (analyze, buffers, format json) "+c.query).Scan(&text); err != nil {
				t.Fatal(err)
			}
			var plan []struct {
				Plan struct {
					Hit  int `json:"Shared Hit Blocks"`
					Read int `json:"Shared Read Blocks"`
				}
			}
			if err := json.Unmarshal([]byte(text), &plan); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d pages: %s", plan[0].Plan.Hit+plan[0].Plan.Read, c.query)
			if pages := plan[0].Plan.Hit + plan[0].Plan.Read; pages > c.pages {
				t.Errorf("statistics %t: %s reads %d pages, more than %d", statistics, c.query, pages, c.pages)
			}
		}
	}
	if n := dbtest.Get[int](db, `select core_private.expire_kv(100)`); n != many/100 {
		t.Errorf("the sweep removed %d of %d", n, many/100)
	}
}
