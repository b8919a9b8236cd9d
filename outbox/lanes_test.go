package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/outbox"
)

// theLane is the first one of queue pay.
func theLane(db *dbtest.DB) int32 {
	return dbtest.Get[int32](db, "select lane_id from core.lane_status where queue = 'pay' and lane = 0")
}

// fetched are the numbers and attempts of what a node is given.
func fetched(t *testing.T, db *dbtest.DB, limit int) (seqs []int64, attempts []int32, token string) {
	t.Helper()
	rows, err := db.Pool.Query(t.Context(), `select seq, attempt, token::text from core_node.fetch_lane($2, 'n', $1, '10 s')`, limit, theLane(db))
	if err != nil {
		t.Fatal(err)
	}
	var seq int64
	var attempt int32
	_, err = pgx.ForEachRow(rows, []any{&seq, &attempt, &token}, func() error {
		seqs, attempts = append(seqs, seq), append(attempts, attempt)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return seqs, attempts, token
}

func settle(t *testing.T, db *dbtest.DB, token string, seqs []int64) {
	t.Helper()
	last := dbtest.Get[int64](db, "select id from core_private.lane_messages where lane_id = $1 order by id offset $2 limit 1", theLane(db), seqs[len(seqs)-1]-1)
	_, err := db.Pool.Exec(t.Context(), "select core_node.settle_lane($1, 'n', $2::text::uuid, $3, $4, $5, 'release')",
		theLane(db), token, seqs[0]-1, len(seqs), last)
	if err != nil {
		t.Fatal(err)
	}
}

// holds: LN7
// A message that kills whoever handles it is found in few calls, those before it are not handled twice as often as there are halves, and no
// attempt is counted before it is alone.
func TestDeaths(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	db.SetNow(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	register(t, db, "pay", 1, &outbox.QueueOptions{Retry: nexus.RetryPolicy{MaxAttempts: 2, Base: time.Millisecond, Max: time.Millisecond}})
	enqueue(t, db, "pay", numbers(100)...)
	calls, known := 0, 0
	for calls < 40 && dbtest.Get[int64](db, "select seq from core.lane_status") < 100 {
		seqs, attempts, token := fetched(t, db, 50)
		if len(seqs) == 0 {
			db.Advance(20 * time.Second)
			continue
		}
		calls++
		if strings.Contains(fmt.Sprint(seqs, " "), " 37 ") || seqs[0] == 37 || seqs[len(seqs)-1] == 37 {
			if len(seqs) == 1 && known == 0 {
				known = calls
				if attempts[0] != 1 {
					t.Errorf("attempt %d when it is alone for the first time", attempts[0])
				}
			}
			db.Advance(20 * time.Second) // it died
			continue
		}
		settle(t, db, token, seqs)
	}
	if known == 0 || known > 10 {
		t.Errorf("alone at call %d", known)
	}
	if got := dbtest.Get[string](db, "select lane_seq || ' ' || attempts || ' ' || reason from core.dead_letters"); got != "37 2 lease ended" {
		t.Error(got)
	}
	if calls > 14 {
		t.Errorf("%d calls: the batches did not grow again", calls)
	}
}

// holds: LN3 (what comes before the rebase)
// Of a server whose transaction ids are greater: by its identifier, and, where it is a copy which has the same, by ids that have not been reached here. What is
// enqueued before the lanes are rebased has ids of transactions that the old snapshots seem to have seen, and is handled once all the same.
func TestEnqueuedBeforeTheRebase(t *testing.T) {
	t.Parallel()
	const later = "a copy of this one, which has had as many transactions since"
	for name, cluster := range map[string]string{"another server": "1", "a copy of this one": "core_private.cluster_id()", later: "core_private.cluster_id()"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			register(t, db, "pay", 1, nil)
			register(t, db, "idle", 1, nil) // gives nothing away
			enqueue(t, db, "pay", numbers(3)...)
			if got := drained(t, db); !cmp.Equal(got, numbers(3)) {
				t.Fatal(got)
			}
			db.Exec("update core_private.lane_messages set xid = (xid::text::bigint + 1000000000)::text::xid8")
			db.Exec("update core_private.lanes set cluster = " + cluster + `, ver = ver + 1, done_next = (done_next::text::bigint + 1000000000)::text::xid8,
				done = '2000000000:2000000000:' where done_next > '1'`)
			enqueue(t, db, "pay", "before")
			if name == later {
				db.Exec("select core.tick()")
				db.Exec("update core_private.lanes set done_next = '3' where done_next > '3'")
			}
			for _, call := range []string{
				"core_node.fetch_lane((select lane_id from core.lane_status where queue = 'pay'), 'n', 10, '10 s')", "core.lane_skip('shop', 'pay', 0, 'x')",
				"core.outbox_replay('shop', 'pay', '-infinity')",
			} {
				if _, err := db.Owner.Exec(t.Context(), "select "+call); err == nil || !strings.Contains(err.Error(), "NX509") {
					t.Error(call, err)
				}
			}
			if why := dbtest.Get[string](db, "select why from core.lane_status where queue = 'pay'"); !strings.HasPrefix(why, "restored") {
				t.Error(why)
			}
			if n := dbtest.Get[int32](db, "select core.lanes_rebase()"); n == 0 {
				t.Error("nothing was rebased")
			}
			if n := dbtest.Get[int32](db, "select core.lanes_rebase()"); n != 0 {
				t.Error("again", n)
			}
			enqueue(t, db, "pay", "after")
			if got := drained(t, db); !cmp.Equal(got, []string{"before", "after"}) {
				t.Error(got)
			}
		})
	}
}

// drained are the bodies of what there is in the lane, which are done then, with a look that finds nothing behind them.
func drained(t *testing.T, db *dbtest.DB) (bodies []string) {
	t.Helper()
	for {
		seqs, _, token := fetched(t, db, 50)
		if len(seqs) == 0 {
			return bodies
		}
		rows, err := db.Owner.Query(t.Context(), "select convert_from(m.body, 'UTF8') from core_private.read_lane(core_private.lane_now($1), 50) m", theLane(db))
		if err != nil {
			t.Fatal(err)
		}
		some, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, some...)
		db.Exec(`select core_node.settle_lane(l.lane_id, 'n', $1::text::uuid, l.seq, $2::int, (select max(id) from core_private.read_lane(core_private.lane_now(l.lane_id), $2::int)), 'release')
			from core.lane_status l where l.lane_id = $3`, token, len(seqs), theLane(db))
	}
}

// holds: LN3
// Restored on another server, whose transaction ids are others: nothing is handed out until the lanes are rebased, and then nothing is lost
// or repeated, whether it was enqueued before, between or after the snapshots of its lane. What had been handed out has the number it had.
func TestRebase(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 1, nil)
	late, err := db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = late.Rollback(context.Background()) })
	if _, err := outbox.Enqueue(t.Context(), late, ns, outbox.Message{Queue: "pay", Key: "one", Type: "t", Body: []byte("late")}); err != nil {
		t.Fatal(err)
	}
	enqueue(t, db, "pay", numbers(6)...)
	seqs, _, token := fetched(t, db, 4)
	if want := []int64{1, 2, 3, 4}; !cmp.Equal(seqs, want) {
		t.Fatal(seqs)
	}
	db.Exec(`select core_node.settle_lane(lane_id, 'n', $1::text::uuid, 0, 2, (select min(id) + 1 from core_private.lane_messages), 'release') from core.lane_status`, token)
	if err := late.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	enqueue(t, db, "pay", "after")

	const shift = `(select string_agg(case when x ~ '^[0-9]+$' then (x::bigint + 1000000000)::text else x end, '') from regexp_split_to_table(%s::text, '(?<=[:,])|(?=[:,])') x)::pg_snapshot`
	db.Exec("update core_private.lane_messages set xid = (xid::text::bigint + 1000000000)::text::xid8")
	db.Exec("update core_private.lanes set cluster = 1, ver = ver + 1, done_next = (done_next::text::bigint + 1000000000)::text::xid8, done = " +
		fmt.Sprintf(shift, "done") + ", cur = " + fmt.Sprintf(shift, "cur"))
	if _, err := db.Pool.Exec(t.Context(), "select core_node.fetch_lane($1, 'n', 10, '10 s')", theLane(db)); err == nil || !strings.Contains(err.Error(), "NX509") {
		t.Fatal(err)
	}
	if n := dbtest.Get[int32](db, "select core.lanes_rebase()"); n != 1 {
		t.Error(n)
	}
	if n := dbtest.Get[int32](db, "select core.lanes_rebase()"); n != 0 {
		t.Error("again", n)
	}
	enqueue(t, db, "pay", "later")
	var got []string
	for range 3 {
		seqs, _, token := fetched(t, db, 50)
		if len(seqs) == 0 {
			break
		}
		rows, err := db.Owner.Query(t.Context(), `select convert_from(m.body, 'UTF8') from core_private.lane_now((select lane_id from core.lane_status)) l
			cross join lateral core_private.read_lane(l, 50) m`)
		if err != nil {
			t.Fatal(err)
		}
		bodies, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, bodies...)
		db.Exec(`select core_node.settle_lane(l.lane_id, 'n', $1::text::uuid, l.seq, $2::int, (select max(id) from core_private.read_lane(core_private.lane_now(l.lane_id), $2::int)), 'release')
			from core.lane_status l`, token, len(seqs))
	}
	if want := []string{"3", "4", "5", "6", "late", "after", "later"}; !cmp.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if seq := dbtest.Get[int64](db, "select seq from core.lane_status"); seq != 9 {
		t.Error(seq)
	}
}

// holds: LN8
// Partitions go once every lane has seen all that can be in them, whoever held a transaction meanwhile, and never before.
func TestPartitionsGo(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	smallPartitions(db, 10)
	register(t, db, "pay", 1, nil)
	register(t, db, "idle", 2, nil)
	db.Exec("select core_private.maintain_lanes()")
	left := func() int64 {
		t.Helper()
		db.Exec("select core_private.maintain_lanes()")
		db.Exec("select core_private.maintain_lanes()")
		return dbtest.Get[int64](db, "select count(*) from core_private.lane_partitions where upper <= 20")
	}
	late, err := db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = late.Rollback(context.Background()) })
	if _, err := outbox.Enqueue(t.Context(), late, ns, outbox.Message{Queue: "pay", Key: "one", Type: "t", Body: []byte("late")}); err != nil {
		t.Fatal(err)
	}
	enqueue(t, db, "pay", numbers(24)...)
	if n := left(); n != 2 {
		t.Fatalf("%d of 2 left, and nothing is handled", n)
	}
	seqs, _, token := fetched(t, db, 50)
	db.Exec(`select core_node.settle_lane(lane_id, 'n', $1::text::uuid, 0, $2, (select max(id) from core_private.lane_messages), 'release') from core.lane_status where queue = 'pay'`, token, len(seqs))
	if n := left(); n == 0 {
		t.Fatal("a partition went to which somebody may still write")
	}
	if err := late.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := left(); n == 0 {
		t.Fatal("a partition went whose message nobody has had")
	}
	seqs, _, token = fetched(t, db, 50)
	if len(seqs) != 1 || seqs[0] != 25 {
		t.Fatal(seqs)
	}
	db.Exec(`select core_node.settle_lane(lane_id, 'n', $1::text::uuid, 24, 1, 1, 'release') from core.lane_status where queue = 'pay'`, token)
	db.Wait("select core_private.maintain_lanes() is not null and not exists (select from core_private.lane_partitions where upper <= 20)")
	if n := dbtest.Get[int64](db, "select count(*) from core_private.lane_messages_default"); n != 0 {
		t.Errorf("%d messages have no partition", n)
	}
}

// holds: LN1
// What a queue does not take is refused by name, and of a batch nothing is written.
func TestRefusals(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	register(t, db, "pay", 2, &outbox.QueueOptions{MaxBodyBytes: 10})
	ok := outbox.Message{Queue: "pay", Type: "t", Body: []byte("x")}
	with := func(change func(m *outbox.Message)) []outbox.Message {
		m := ok
		change(&m)
		return []outbox.Message{ok, m}
	}
	for _, c := range []struct {
		batch       []outbox.Message
		code, field string
	}{
		{with(func(m *outbox.Message) { m.Body = make([]byte, 11) }), nexus.CodePayloadTooLarge, "p_bodies[2]"},
		{with(func(m *outbox.Message) { m.Type = "" }), nexus.CodeOutbox, "p_body_types[2]"},
		{with(func(m *outbox.Message) { m.Type = strings.Repeat("t", 1025) }), nexus.CodeOutbox, "p_body_types[2]"},
		{with(func(m *outbox.Message) { m.Key = strings.Repeat("k", 1025) }), nexus.CodeOutbox, "p_keys[2]"},
		{with(func(m *outbox.Message) { m.DedupeKey = strings.Repeat("k", 201) }), nexus.CodeOutbox, "p_dedupe_keys[2]"},
		{with(func(m *outbox.Message) { m.Type = "\xff" }), nexus.CodeArgumentValue, "p_body_types[2]"},
		{with(func(m *outbox.Message) { m.Key = "a\x00" }), nexus.CodeArgumentValue, "p_keys[2]"},
		{with(func(m *outbox.Message) { m.DedupeKey = "\xff" }), nexus.CodeArgumentValue, "p_dedupe_keys[2]"},
		{[]outbox.Message{{Queue: "none", Type: "t"}}, nexus.CodeNoLane, "p_queue"},
		{with(func(m *outbox.Message) { m.Queue = "other" }), nexus.CodeArgumentValue, "batch[1].Queue"},
	} {
		_, err := outbox.EnqueueBatch(t.Context(), db.Owner, ns, c.batch)
		if e, is := errors.AsType[*nexus.Error](err); !is || e.Code != c.code || e.Field != c.field {
			t.Errorf("got %v, want %s at %s", err, c.code, c.field)
		}
	}
	if n := dbtest.Get[int64](db, "select count(*) from core.outbox_incoming"); n != 0 {
		t.Errorf("%d messages", n)
	}
	for code, f := range map[string]func() error{
		nexus.CodeOutboxDiffers: func() error { _, err := outbox.RegisterQueue(t.Context(), db.Pool, ns, "pay", 3, nil); return err },
		nexus.CodeOutbox:        func() error { _, err := outbox.RegisterQueue(t.Context(), db.Pool, ns, "pay2", 4097, nil); return err },
		nexus.CodeOptionValue: func() error {
			_, err := outbox.RegisterQueue(t.Context(), db.Pool, ns, "pay2", 1, &outbox.QueueOptions{Profile: "fast"})
			return err
		},
		nexus.CodeNoLane: func() error { _, err := outbox.Pause(t.Context(), db.Owner, ns, "pay", 2, ""); return err },
	} {
		if e, is := errors.AsType[*nexus.Error](f()); !is || e.Code != code {
			t.Errorf("got %v, want %s", e, code)
		}
	}
	if made, err := outbox.RegisterQueue(t.Context(), db.Pool, ns, "pay", 2, nil); made || err != nil {
		t.Error(made, err)
	}
}

// holds: LN9
// Every verb works on every handle, keys pick the lanes that SHA-256 says, and bytes come back as they were.
func TestEveryVerbOnEveryHandle(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	dbtest.EveryWay(t, db.Owner, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		ctx := t.Context()
		if made, err := outbox.RegisterQueue(ctx, q, ns, "pay", 7, &outbox.QueueOptions{Strict: true}); !made || err != nil {
			t.Fatal(made, err)
		}
		body := []byte{0, 1, 0xff, '\'', '"', '\\'}
		first, err := outbox.Enqueue(ctx, q, ns, outbox.Message{Queue: "pay", Key: "Zoë", Type: "bytes", Body: body, DedupeKey: "d"})
		if err != nil || first.Duplicate || first.ID == 0 || first.Lane != 5 {
			t.Fatalf("%+v %v", first, err) // of printf Zoë | sha256sum the first eight digits, modulo 7
		}
		_, err = outbox.Enqueue(ctx, q, ns, outbox.Message{Queue: "pay", Key: "Zo\xeb", Type: "bytes"})
		if e, is := errors.AsType[*nexus.Error](err); !is || e.Field != "p_key" || e.Hint == "" {
			t.Fatalf("%v", err) // and the transaction goes on
		}
		again, err := outbox.Enqueue(ctx, q, ns, outbox.Message{Queue: "pay", Key: "Zoë", Type: "bytes", DedupeKey: "d"})
		if err != nil || !again.Duplicate {
			t.Fatalf("%+v %v", again, err)
		}
		if paused, err := outbox.Pause(ctx, q, ns, "pay", first.Lane, "why"); !paused || err != nil {
			t.Fatal(paused, err)
		}
		if resumed, err := outbox.Resume(ctx, q, ns, "pay", first.Lane, "why"); !resumed || err != nil {
			t.Fatal(resumed, err)
		}
		if seq, err := outbox.Skip(ctx, q, ns, "pay", first.Lane, "why"); seq != 0 || err != nil {
			t.Fatal(seq, err) // nobody has begun to read it
		}
		if err := outbox.DropQueue(ctx, q, ns, "pay", false); !errors.Is(err, nexus.ErrConflict) {
			t.Fatal(err)
		}
		if err := outbox.DropQueue(ctx, q, ns, "pay", true); err != nil {
			t.Fatal(err)
		}
		db.Exec("delete from core.event_keys")
	})
}
