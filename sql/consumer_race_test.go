package nexussql_test

import (
	"context"
	"fmt"
	"math/rand"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

const (
	fromBeginning = `select core.create_consumer('shop', 'mail', '{a.*}', '{"from": "beginning"}')`
	backfill      = `select core.run_sweep('backfills')`
	backfillState = `select backfill from core.consumer_status where consumer = 'mail'`
	mailed        = `select coalesce(string_agg(message ->> 'eventType', ' ' order by message ->> 'eventType'), '') from pgmq.q_core_events_shop__mail`
)

func does(t *testing.T, q interface {
	Exec(ctx context.Context, sql string, args ...any) error
}, sql string,
) {
	t.Helper()
	if err := q.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// session runs statements one after the other.
type session struct{ *pgx.Conn }

func (s session) Exec(ctx context.Context, sql string, args ...any) error {
	_, err := s.Conn.Exec(ctx, sql, args...)
	return err
}

func open(t *testing.T, db *dbtest.DB) session {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), db.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return session{conn}
}

// C2: whoever may still emit without knowing of the consumer is waited for, in whatever state its transaction is.
// holds: C2
func TestABackfillWaitsForWhoDoesNotKnowOfIt(t *testing.T) {
	for name, test := range map[string]struct{ before, during, after []string }{
		"has emitted":                {before: []string{"begin", `select core.emit('shop', 'a.held')`}, after: []string{"commit"}},
		"has a snapshot and no id":   {before: []string{"begin isolation level repeatable read", "select count(*) from core.namespaces"}, after: []string{`select core.emit('shop', 'a.held')`, "commit"}},
		"emits in a batch":           {before: []string{"begin isolation level repeatable read", "select count(*) from core.namespaces"}, after: []string{`select core.emit_batch('shop', '{a.held}', array['1']::jsonb[])`, "commit"}},
		"began after the creation":   {during: []string{"begin", `select core.emit('shop', 'a.held')`}, after: []string{"commit"}},
		"began after it, repeatable": {during: []string{"begin isolation level repeatable read", "select count(*) from core.namespaces"}, after: []string{`select core.emit('shop', 'a.held')`, "commit"}},
	} {
		t.Run(name, func(t *testing.T) {
			db := dbtest.New(t)
			db.Namespace("shop")
			db.Exec(`select core.emit('shop', 'a.before')`)
			held, creating := open(t, db), open(t, db)
			for _, sql := range test.before {
				does(t, held, sql)
			}
			does(t, creating, "begin")
			does(t, creating, fromBeginning)
			for _, sql := range test.during {
				does(t, held, sql)
			}
			does(t, creating, "commit")
			db.Exec(`select core.emit('shop', 'a.now')`)
			db.Exec(backfill)
			if got := dbtest.Get[string](db, backfillState); got != "waiting" {
				t.Fatalf("the backfill is %s", got)
			}
			for _, sql := range test.after {
				does(t, held, sql)
			}
			db.Exec(backfill)
			if got := dbtest.Get[string](db, mailed); got != "a.before a.held a.now" {
				t.Errorf("delivered %q (%s)", got, dbtest.Get[string](db, backfillState))
			}
		})
	}
}

// C2: no lock stands between emit and create, altering and dropping.
// holds: C2
func TestNoLockBetweenEmitAndConsumers(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`select core.create_consumer('shop', 'old', '{*}')`)
	held, changing := open(t, db), open(t, db)
	for _, s := range []session{held, changing} {
		does(t, s, "set lock_timeout = '2s'")
	}
	does(t, held, "begin")
	does(t, held, `select core.emit('shop', 'a.held'), core.emit('shop', 'a.held', '{}', '{"delay": "1 h"}')`)
	does(t, changing, "begin")
	does(t, changing, fromBeginning)
	does(t, changing, `select core.alter_consumer('shop', 'old', '{a.*}')`)
	does(t, held, `select core.emit('shop', 'a.held')`)
	does(t, changing, "commit")
	does(t, changing, "begin")
	does(t, changing, `select core.drop_consumer('shop', 'old', true)`)
	does(t, held, `select core.emit('shop', 'a.held'), core.emit('shop', 'a.held', '{}', '{"delay": "1 h"}')`)
	does(t, changing, "commit")
	does(t, held, `select core.emit('shop', 'a.held'), core.emit('shop', 'a.held', '{}', '{"delay": "1 h"}')`)
	does(t, held, "commit")
	// Transactions of the whole server count, so those of other tests may hold it up.
	db.Wait(`select not exists (select from core.run_sweep('left_queues'), pgmq.meta where queue_name like '%\_\_old')`)
}

// C2: emitters in short, long, rolled-back and REPEATABLE READ transactions, meanwhile consumers come from the beginning and from
// now, change and go. Each of those from the beginning gets each event of the log once, each of the others those of its generation.
// holds: C2, C3
func TestConsumersComeAndGoUnderTraffic(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`select core.emit_batch('shop', array_fill('a.old'::text, '{3000}'), array_fill('{}'::jsonb, '{3000}'))`)
	const rounds = 6
	var over atomic.Bool
	noErrors(t, atOnce(t, db, 7, func(ctx context.Context, conn *pgx.Conn, i int) error {
		s := session{conn}
		if i == 0 { // who creates
			defer over.Store(true)
			for n := range rounds {
				for _, sql := range []string{
					fmt.Sprintf(`select core.create_consumer('shop', 'all%d', '{a.*}', '{"from": "beginning"}')`, n),
					fmt.Sprintf(`select core.create_consumer('shop', 'now%d', '{a.*}')`, n),
					`select core.create_consumer('shop', 'brief', '{*}', '{"from": "beginning"}')`, "select pg_sleep(0.05)",
					`select core.alter_consumer('shop', 'brief', '{b.*}', '{"drop_unmatched": true}')`, backfill,
					`select core.drop_consumer('shop', 'brief', true)`, `select core.run_sweep('left_queues')`,
				} {
					if err := s.Exec(ctx, sql); err != nil {
						return fmt.Errorf("%s: %w", sql, err)
					}
				}
			}
			return nil
		}
		r := rand.New(rand.NewSource(int64(i)))
		for !over.Load() {
			begin, end := "begin", "commit"
			if i%3 == 0 {
				begin = "begin isolation level repeatable read"
			}
			if r.Intn(4) == 0 {
				end = "rollback"
			}
			for _, sql := range []string{
				begin, "select count(*) from core.namespaces", fmt.Sprintf("select pg_sleep(%g)", r.Float64()/20),
				`select core.emit('shop', 'a.one'), core.emit('shop', 'b.one')`, fmt.Sprintf("select pg_sleep(%g)", r.Float64()/20),
				`select core.emit_batch('shop', '{a.two,b.two}', array_fill('{}'::jsonb, '{2}'))`, end,
			} {
				if err := s.Exec(ctx, sql); err != nil {
					return fmt.Errorf("%s: %w", sql, err)
				}
			}
		}
		return nil
	}))
	for dbtest.Get[bool](db, `select exists (select from core.consumer_status where backfill <> 'done')`) {
		db.Exec(backfill)
	}
	for n := range rounds {
		for name, from := range map[string]string{"all": "0", "now": "c.created_generation"} {
			got := dbtest.Get[string](db, fmt.Sprintf(`
				with want as (
				  select e.event_id::text as id from core.event_log e, core.consumers c
				   where c.name = '%[1]s%[2]d' and e.event_type like 'a.%%' and coalesce(e.consumer_generation, 0) >= %[3]s),
				got as (select message ->> 'eventId' as id, count(*) as n from pgmq.q_core_events_shop__%[1]s%[2]d group by 1)
				select format('%%s missed, %%s doubled, %%s too many', count(*) filter (where g.id is null), count(*) filter (where g.n > 1),
				              count(*) filter (where w.id is null)) from want w full join got g using (id)`, name, n, from))
			if got != "0 missed, 0 doubled, 0 too many" {
				t.Errorf("%s%d: %s", name, n, got)
			}
		}
	}
}
