package node_test

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// A trigger and a consumer look back over a log beside live traffic. The process that does it is killed with -9 in the middle of a step, which the server
// commits for it or does not; another process takes it up. Each event of the log comes to both of them once.
// holds: T7 (match_back, the process killed), C2 (from the beginning, the process killed)
func TestAProcessThatLooksBackIsKilled(t *testing.T) {
	t.Parallel()
	for _, after := range []string{"the step commits", "the step is lost"} {
		t.Run(after, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			old := 600
			if os.Getenv("NEXUS_TEST_LONG") != "" {
				old = 30_000
			}
			db.Exec(`select core.create_trigger('shop', 'other', '{"event": {"pattern": "never"}}', 'go:mail')`)
			db.Exec(`select core.emit_batch('shop', array_fill('a.old'::text, array[$1::int]), array(select to_jsonb(g) from generate_series(1, $1::int) g))`, old)
			db.Exec(`delete from pgmq.q_core_events_shop`)

			// The step with the middle of what is old waits for the holder, as it would for anybody's lock.
			release := db.HoldLock(13, 13)
			db.Exec(strings.ReplaceAll(`create function public.wait_here() returns trigger language plpgsql security definer as $$ begin perform pg_advisory_xact_lock(13, 13); return new; end $$;
				create trigger wait_here before insert on pgmq.q_core_events_shop__triggers for each row when ((new.message ->> 'payload') = '{middle}') execute function public.wait_here()`,
				"{middle}", dbtest.Get[string](db, `select ($1::int / 2)::text`, old)), pgx.QueryExecModeSimpleProtocol)

			// Its pause is the load, and nothing waits for it: a transaction that is open for a while commits behind events that are looked at already.
			var over atomic.Bool
			emitted := make(chan error, 1)
			go func() {
				emitted <- func() error {
					for i := 0; !over.Load(); i++ {
						end := "commit"
						if i%3 == 0 {
							end = "rollback"
						}
						if _, err := db.Pool.Exec(t.Context(), `begin isolation level repeatable read; select core.emit('shop', 'a.live'), core.emit('shop', 'b.live'), pg_sleep(0.02); `+end, pgx.QueryExecModeSimpleProtocol); err != nil {
							return err
						}
					}
					return nil
				}()
			}()
			db.Wait(`select count(*) > 20 from core.event_log where event_type = 'a.live'`)
			db.Exec(`select core.create_trigger('shop', 'mail', '{"event": {"pattern": "a.*"}}', 'go:mail', '{"match_back": "beginning"}')`)
			db.Exec(`select core.create_consumer('shop', 'mailer', '{a.*}', '{"from": "beginning"}')`)
			victim := spawn(t, db, "looks back")
			const waits = `from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`
			db.Wait(`select count(*) = 1 ` + waits)
			kill(victim)
			spawn(t, db, "looks back")
			db.Wait(`select count(*) > 5 from public.effect e join core.event_log l using (event_uid) where l.event_type = 'a.live' and l.emitted_at > now() - interval '1 second'`)
			if after == "the step is lost" {
				db.Exec(`select pg_terminate_backend(pid, 10000) ` + waits)
			}
			release()
			db.Wait(`select core.run_sweep('backfills') is not null and not exists (select from core_private.backfills where state <> 'done')`)
			over.Store(true)
			if err := <-emitted; err != nil {
				t.Fatal(err)
			}
			for _, to := range []string{"mail", "mailer"} {
				db.Wait(`select (select count(*) from core.event_log where namespace = 'shop' and event_type like 'a.%') <= (select count(distinct event_uid) from public.effect where note = $1)`, to)
				if got := dbtest.Get[string](db, `select format('%s twice, %s too many', count(*) - count(distinct e.event_uid), count(*) filter (where l.event_uid is null))
					from public.effect e left join core.event_log l on l.event_uid = e.event_uid and l.event_type like 'a.%' where e.note = $1`, to); got != "0 twice, 0 too many" {
					t.Errorf("%s: %s", to, got)
				}
			}
		})
	}
}
