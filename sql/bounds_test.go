package nexussql_test

import (
	"encoding/json"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// P3: a view that looks at queues stops at 10,001 rows of each, whatever they hold. What is asserted is what is read: pages.
// holds: P3 (pages read, by EXPLAIN)
func TestViewsStopReading(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(`insert into pgmq.q_core_events_shop (vt, message)
		select now() + interval '1 h', jsonb_build_object('eventType', 'a', 'pad', repeat('x', 200)) from generate_series(1, 120000)`)
	db.Exec(`insert into core.delayed (due_at, queue_name, event_type, message)
		select now() + interval '1 h', 'core_events_shop', 'a', jsonb_build_object('pad', repeat('x', 200)) from generate_series(1, 120000)`)
	db.Exec("select core.emit('shop', 'a')")
	db.Exec("vacuum analyze pgmq.q_core_events_shop")
	db.Exec("vacuum analyze core.delayed")
	whole := dbtest.Get[int](db, "select relpages from pg_class where oid = 'pgmq.q_core_events_shop'::regclass")
	for _, c := range []struct {
		query string
		share int // of the pages of a queue, in percent
	}{
		{"select * from core.queue_metrics", 35},
		{"select * from core.peek('core_events_shop', 1000)", 10},
		{"select * from core.event_status((select max(event_id) from core.event_log))", 35},
	} {
		db.Exec(c.query) // warm: catalogs are read, too
		var plan []struct {
			Plan struct {
				Hit  int `json:"Shared Hit Blocks"`
				Read int `json:"Shared Read Blocks"`
			}
		}
		if err := json.Unmarshal([]byte(dbtest.Get[string](db, "explain (analyze, buffers, format json) "+c.query)), &plan); err != nil {
			t.Fatal(err)
		}
		pages := plan[0].Plan.Hit + plan[0].Plan.Read
		if pages == 0 || pages > whole*c.share/100 {
			t.Errorf("%s reads %d pages, a queue has %d", c.query, pages, whole)
		}
	}
}
