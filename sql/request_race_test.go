package nexussql_test

import (
	"errors"
	"fmt"
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// R1, R2, R3: nodes, callers of whom two wait for each reply, those who cancel, and the sweep, all at once, while deadlines pass. Each request runs once
// at most, its end is told to one, and what ran for nobody is an abandoned execution.
// holds: R1 (races), R2 (races), R3 (races)
func TestRequestsRace(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`select core_node.require_routed('shop', 'requests')`)
	db.Exec(`select core_node.register_node('shop', 'n1', true, '{go:price}', '{}', '{requests}')`)
	const requests, nodes = 120, 3
	type fate struct{ begun, answered, abandoned, told, told200, cancelled atomic.Int64 }
	fates := sync.Map{}
	of := func(id string) *fate {
		f, _ := fates.LoadOrStore(id, new(fate))
		return f.(*fate)
	}
	stop := make(chan struct{})
	var working, asking sync.WaitGroup
	for w := range nodes {
		s := open(t, db)
		r := rand.New(rand.NewSource(int64(w)))
		working.Go(func() {
			for idle := false; ; {
				select {
				case <-stop:
					if idle {
						return
					}
				default:
				}
				var id *string
				var msg, ct int64
				var at time.Time
				err := s.QueryRow(t.Context(), `select message ->> 'replyTo', msg_id, read_ct, last_read_at
					from core_node.claim('core_events_shop__requests', '{go:*}', '{-1}', 1, '30 s') where outcome = 'claimed'
					union all select null, 0, 0, 'epoch' order by 2 desc limit 1`).Scan(&id, &msg, &ct, &at)
				if err != nil {
					t.Error(err)
					return
				}
				if idle = id == nil; idle {
					does(t, s, `select pg_sleep(0.001)`)
					continue
				}
				var state string
				if err := s.QueryRow(t.Context(), `select state from core_node.begin_request($1::text::uuid)`, *id).Scan(&state); err != nil {
					t.Error(err)
					return
				}
				if state != "begun" {
					does(t, s, fmt.Sprintf(`delete from pgmq.q_core_events_shop__requests where msg_id = %d`, msg))
					continue
				}
				of(*id).begun.Add(1)
				does(t, s, fmt.Sprintf(`select pg_sleep(%d / 1000.0)`, r.Intn(30))) // its work
				if err := s.QueryRow(t.Context(), `select state from core_node.answer_request('core_events_shop__requests', $1, $2, $3, 200, '1')`, msg, ct, at).Scan(&state); err != nil {
					t.Error(err)
					return
				}
				if state == "answered" {
					of(*id).answered.Add(1)
				} else {
					of(*id).abandoned.Add(1)
				}
			}
		})
	}
	sweeper := open(t, db)
	working.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				does(t, sweeper, `select core_private.expire_requests()`)
				does(t, sweeper, `select pg_sleep(0.005)`)
			}
		}
	})
	for c := range 4 {
		s, beside := open(t, db), open(t, db)
		r := rand.New(rand.NewSource(int64(100 + c)))
		asking.Go(func() {
			for i := range requests / 4 {
				timeout := 5 + r.Intn(40) // some of these are late, and on a busy machine all
				if i%3 == 0 {
					timeout = 20_000
				}
				var id string
				if err := s.QueryRow(t.Context(), fmt.Sprintf(`select core.request('shop', 'price', '1', '{"timeout": "%d ms"}')::text`, timeout)).Scan(&id); err != nil {
					t.Error(err)
					return
				}
				f := of(id)
				wait := func(s session) {
					var status int
					err := s.QueryRow(t.Context(), `select status from core.await_reply($1::text::uuid, '10 s')`, id).Scan(&status)
					if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "NX113" {
						return // the other one had it, or it was cancelled
					}
					if err != nil {
						t.Error(err)
						return
					}
					f.told.Add(1)
					if status == 200 {
						f.told200.Add(1)
					}
				}
				cancels := r.Intn(5) == 0
				var two sync.WaitGroup
				two.Go(func() { wait(s) })
				two.Go(func() {
					if !cancels {
						wait(beside)
						return
					}
					var done bool
					if err := beside.QueryRow(t.Context(), `select core.cancel_request($1::text::uuid)`, id).Scan(&done); err != nil {
						t.Error(err)
					}
					if done {
						f.cancelled.Add(1)
					}
				})
				two.Wait()
			}
		})
	}
	asking.Wait()
	close(stop)
	working.Wait()
	var abandoned, runs, replies int64
	fates.Range(func(id, v any) bool {
		f := v.(*fate)
		if f.begun.Load() > 1 || f.told.Load()+f.cancelled.Load() != 1 || f.answered.Load()+f.abandoned.Load() != f.begun.Load() || f.answered.Load() != f.told200.Load() {
			t.Errorf("request %v: begun %d times, answered %d, abandoned %d, told %d (%d with a reply), cancelled %d",
				id, f.begun.Load(), f.answered.Load(), f.abandoned.Load(), f.told.Load(), f.told200.Load(), f.cancelled.Load())
		}
		abandoned, runs, replies = abandoned+f.abandoned.Load(), runs+f.begun.Load(), replies+f.told200.Load()
		return true
	})
	if got := dbtest.Get[int64](db, `select count(*) from core.abandoned_executions`); got != abandoned || runs != abandoned+replies {
		t.Errorf("of %d runs %d have a reply, %d were abandoned, and %d are kept as that", runs, replies, abandoned, got)
	}
	if replies == 0 || abandoned == 0 {
		t.Errorf("%d replies, %d abandoned: the race is none", replies, abandoned)
	}
	if left := dbtest.Get[int](db, `select (select count(*) from core.inbox)::int + (select count(*) from pgmq.q_core_events_shop__requests)::int`); left != 0 {
		t.Errorf("%d rows are left", left)
	}
}
