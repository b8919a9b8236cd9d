package node_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/migrate"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// I2: pgmq is upgraded in place while producers emit and nodes handle. Upgrade scripts drop what depends on pgmq's types; nothing of
// Nexus does.
// holds: I2
func TestPgmqIsUpgradedUnderLoad(t *testing.T) {
	const from, to = "1.11.1", "1.13.0"
	db := newDB(t)
	if v := dbtest.Get[string](db, `select coalesce((select extversion from pg_extension where extname = 'pgmq'), 'installed from SQL')`); v != from {
		t.Skipf("pgmq is %s here; the upgrade begins at %s", v, from)
	}
	if !dbtest.Get[bool](db, `select exists (select from pg_available_extension_versions where name = 'pgmq' and version = $1)`, to) {
		t.Skipf("this server has no pgmq %s to upgrade to: scripts/pgmq-for-tests", to)
	}
	const ours = `
		select string_agg(p.oid::regprocedure || ' ' || md5(p.prosrc), chr(10) order by p.oid::regprocedure::text)
		  from pg_proc p where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)`
	before := dbtest.Get[string](db, ours)

	for i := range 2 {
		n := node.New(db.Pool, node.Config{Namespace: ns, ID: fmt.Sprintf("node-%d", i), Workers: 2, Retry: quick})
		n.On("*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return effect(ctx, tx, d, "") })
		start(t, n)
	}
	var emitted atomic.Int64
	var producers sync.WaitGroup
	ended, end := context.WithCancel(t.Context())
	for range 4 {
		producers.Go(func() {
			for ended.Err() == nil {
				if _, err := (queue.Emitter{Namespace: ns}).Emit(t.Context(), db.Pool, "order.placed", nil, nil); err != nil {
					t.Errorf("emit: %v", err)
					return
				}
				emitted.Add(1)
			}
		})
	}
	handled := func(n int64) { db.Wait(`select count(*) >= $1 from public.effect`, n) }
	handled(200)
	db.Exec(`alter extension pgmq update to '` + to + `'`)
	at := emitted.Load()
	handled(at + 200)
	end()
	producers.Wait()
	db.Wait(queueEmpty)

	if v := dbtest.Get[string](db, `select extversion from pg_extension where extname = 'pgmq'`); v != to {
		t.Errorf("pgmq is %s", v)
	}
	if after := dbtest.Get[string](db, ours); after != before {
		t.Errorf("functions changed:\n%s", strings.Join(missing(before, after), "\n"))
	}
	var events, effects, distinct int64
	row := db.Owner.QueryRow(t.Context(), `select (select count(*) from core.event_log), count(*), count(distinct e.event_uid) from public.effect e`)
	if err := row.Scan(&events, &effects, &distinct); err != nil {
		t.Fatal(err)
	}
	if events != emitted.Load() || effects != events || distinct != events {
		t.Errorf("%d emitted, %d logged, %d effects of %d events", emitted.Load(), events, effects, distinct)
	}
	if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters`); n != 0 {
		t.Errorf("%d dead letters", n)
	}
	db.Namespace("founded-after") // the new version's pgmq.create serves as well
	if _, err := (queue.Emitter{Namespace: "founded-after"}).Emit(t.Context(), db.Pool, "a", nil, nil); err != nil {
		t.Error(err)
	}
}

// I1: earlier schemas are upgraded while nodes of their time and producers are at work. Old nodes go on or hear that what they call is
// gone; then the main job is done by a new one: what is left is handled, a failure recorded and buried, a dead letter replayed, a task
// fired. Nothing is lost and nothing done twice.
// holds: I1-upgrade, I1-locks
func TestLandedSchemasAreUpgradedUnderLoad(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../migrate/testdata/schema-*.sql.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d earlier schemas, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sql.gz"), func(t *testing.T) {
			t.Parallel()
			db := dbtest.Landed(t, file)
			db.Namespace(ns)
			db.Exec(`create table public.effect (event_uid uuid not null, attempt int not null, note text);
				grant select, insert on public.effect to ` + dbtest.Login)
			ended, end := context.WithCancel(t.Context())
			var work sync.WaitGroup
			defer func() {
				end()
				work.Wait()
			}()
			for range 2 {
				work.Go(func() { oldNode(ended, t, db) })
				work.Go(func() {
					for ended.Err() == nil {
						if _, err := db.Pool.Exec(t.Context(), `select core.emit('shop', 'good', '{}')`); err != nil && !givesWay(err) {
							t.Errorf("emit: %v", err)
							return
						}
					}
				})
			}
			db.Wait(`select count(*) > 50 from public.effect`)
			// Every function and view is written anew, also where the file of then is that of now.
			report, err := migrate.Up(t.Context(), db.Owner, &migrate.Options{Repair: true})
			if err != nil || len(report.Drift)+len(report.Orphans) > 0 {
				t.Fatalf("upgrade: %+v, %v", report, err)
			}
			var mended atomic.Bool
			twice := quick
			twice.MaxAttempts = 2
			n := node.New(db.Pool, node.Config{Namespace: ns, Workers: 2, Retry: twice})
			n.On("*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				if d.Type == "bad" && !mended.Load() {
					return errors.New("not yet")
				}
				return effect(ctx, tx, d, d.Type)
			})
			start(t, n)
			db.Exec(`select core.emit('shop', 'bad', '{}')`)
			db.Exec(`select core.schedule_task('shop', 'tick', '@every 1s', 'tick')`)
			db.Wait(`select exists (select from public.effect where note = 'tick')`)
			db.Exec(`select core.delete_task('shop', 'tick')`)
			db.Wait(`select exists (select from core.dead_letters where attempts = 2 and last_error = 'not yet')`)
			if failures := dbtest.Get[int](db, `select count(*)::int from core.delivery_errors`); failures < 2 {
				t.Errorf("%d failures recorded, want two of each dead letter", failures)
			}
			end()
			work.Wait()
			db.Wait(queueEmpty)
			mended.Store(true)
			db.Exec(`select core.replay_dead_letter(dead_letter_id) from core.unresolved_dead_letters`)
			db.Wait(queueEmpty)
			if got := dbtest.Get[string](db, `
				select format('%s lost, %s twice, %s dead',
				         (select count(*) from core.event_log l where not exists (select from public.effect e where e.event_uid = l.event_uid)),
				         (select count(*) - count(distinct e.event_uid) from public.effect e),
				         (select count(*) from core.unresolved_dead_letters))`); got != "0 lost, 0 twice, 0 dead" {
				t.Error(got)
			}
		})
	}
}

// givesWay says that the installer's locks came in another order, or that a function was made anew between the plan of a call and the call,
// and that whoever lost tries again.
func givesWay(err error) bool {
	refused, is := errors.AsType[*pgconn.PgError](err)
	return is && (refused.Code == "40P01" || refused.Code == "XX000" && strings.HasPrefix(refused.Message, "cache lookup failed for function"))
}

// oldNode does what a node of the earlier schemas did, by the functions of then: it claims, and acknowledges in the transaction of its
// handler. It ends when they are gone.
func oldNode(ctx context.Context, t *testing.T, db *dbtest.DB) {
	t.Helper()
	for ctx.Err() == nil {
		err := func() error {
			var (
				id        *int64
				readCount *int32
				readAt    *time.Time
			)
			err := db.Pool.QueryRow(t.Context(), `select c.msg_id, c.read_ct, c.last_read_at
				from core_node.claim('core_events_shop', array['good'], array[10], 1, interval '2 seconds') c where c.msg_id is not null and c.message is not null`).Scan(&id, &readCount, &readAt)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			if err != nil {
				return err
			}
			return pgx.BeginFunc(t.Context(), db.Pool, func(tx pgx.Tx) error {
				if _, err := tx.Exec(t.Context(), `insert into public.effect
					select ($1::jsonb ->> 'eventUid')::uuid, 1, 'old'`, dbtest.Get[string](db, `select message::text from pgmq.q_core_events_shop where msg_id = $1`, *id)); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), `select core.ack('shop', 'default', $1, $2, $3)`, *id, *readCount, *readAt)
				return err
			})
		}()
		refused, _ := errors.AsType[*pgconn.PgError](err)
		switch {
		case err == nil, givesWay(err): // the lease runs out
		// The last one is what the server says of a function that goes while it is looked up.
		case refused != nil && (refused.Code == "42883" || strings.HasPrefix(refused.Code, "NX") || refused.Code == "XX000" && strings.HasPrefix(refused.Message, "cache lookup failed for function")):
			t.Logf("the old node stops: %v", err)
			return
		default:
			t.Errorf("the old node hears: %v", err)
			return
		}
	}
}

// missing are the lines of before that after lacks.
func missing(before, after string) []string {
	have := map[string]bool{}
	for l := range strings.Lines(after) {
		have[strings.TrimSpace(l)] = true
	}
	var out []string
	for l := range strings.Lines(before) {
		if !have[strings.TrimSpace(l)] {
			out = append(out, l)
		}
	}
	return out
}
