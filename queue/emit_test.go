package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/queue"
)

// logged is an event as the log has it.
type logged struct {
	Type, Payload, Producer, Correlation, Ordering string
	Causation                                      uuid.UUID
	Authored                                       time.Time
	Depth                                          int
	Tags                                           []string
	Headers                                        map[string]string
}

func log(t *testing.T, db *dbtest.DB, id int64) logged {
	t.Helper()
	rows, err := db.Owner.Query(t.Context(), `select event_type, payload::text, coalesce(producer_node_id, ''), coalesce(correlation_id, ''),
		coalesce(ordering_key, ''), coalesce(causation_uid, '00000000-0000-0000-0000-000000000000'), coalesce(authored_at, '0001-01-01 00:00Z'),
		depth, tags, headers from core.event_log where event_id = $1`, id)
	if err != nil {
		t.Fatal(err)
	}
	e, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[logged])
	if err != nil {
		t.Fatal(err)
	}
	e.Authored = e.Authored.UTC()
	return e
}

func TestEmitWritesLogAndQueueInTheCallersTransaction(t *testing.T) {
	db := newDB(t)
	tx, err := db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lost, err := bus.Emit(t.Context(), tx, "order.placed", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	const placed nexus.EventType[map[string]int64] = "order.placed"
	kept, err := queue.EmitT(t.Context(), db.Pool, bus, placed, map[string]int64{"n": 9007199254740993}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if kept.EventID == 0 || kept.EventUID == uuid.Nil || kept.MessageID == 0 || kept.Duplicate || kept.EventID == lost.EventID {
		t.Errorf("receipt %+v after %+v", kept, lost)
	}
	if n := dbtest.Get[int64](db, "select count(*) from core.event_log"); n != 1 {
		t.Errorf("%d events in the log", n)
	}
	if diff := cmp.Diff(logged{Type: "order.placed", Payload: `{"n": 9007199254740993}`}, log(t, db, kept.EventID)); diff != "" {
		t.Errorf("in the log (-want +got):\n%s", diff)
	}
	d := claim(t, db)
	var payload map[string]any
	if err := d.Decode(&payload); err != nil || payload["n"] != json.Number("9007199254740993") {
		t.Errorf("delivered %v: %v", payload, err)
	}
	if d.MessageID != kept.MessageID {
		t.Errorf("message %d, receipt says %d", d.MessageID, kept.MessageID)
	}
}

// holds: not-yet-refused
func TestEmitOptionsArrive(t *testing.T) {
	db := newDB(t)
	cause := uuid.New()
	authored := time.Date(2026, 3, 29, 2, 30, 0, 123456000, time.FixedZone("", 2*3600))
	node := queue.Emitter{Namespace: ns, Producer: "till-7"}
	r, err := node.Emit(t.Context(), db.Pool, "order.placed", json.RawMessage(`1.50`), &queue.EmitOptions{
		OrderingKey: "ann", Headers: map[string]string{"traceparent": "00-1"}, CorrelationID: "c", CausationUID: cause,
		AuthoredAt: authored, Tags: []string{"b", "a"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := logged{
		Type: "order.placed", Payload: "1.50", Producer: "till-7", Correlation: "c", Ordering: "ann", Causation: cause,
		Authored: authored.UTC(), Tags: []string{"b", "a"}, Headers: map[string]string{"traceparent": "00-1"},
	}
	if diff := cmp.Diff(want, log(t, db, r.EventID)); diff != "" {
		t.Errorf("in the log (-want +got):\n%s", diff)
	}
	_, err = node.Emit(t.Context(), db.Pool, "order.placed", nil, &queue.EmitOptions{Broadcast: true, Delay: time.Hour})
	wantError(t, err, nexus.ErrInvalid, nexus.CodeOptionValue, "broadcast")
	_, err = node.EmitBatch(t.Context(), db.Pool, []queue.Emission{{Type: "a"}, {Type: "a", EmitOptions: queue.EmitOptions{Broadcast: true, Delay: time.Hour}}})
	wantError(t, err, nexus.ErrInvalid, nexus.CodeOptionValue, "broadcast[2]")
	one, err := node.Emit(t.Context(), db.Pool, "order.placed", nil, &queue.EmitOptions{Broadcast: true})
	if err != nil || dbtest.Get[int64](db, "select event_id from core.broadcasts") != one.EventID {
		t.Errorf("a broadcast: %v", err)
	}
}

func TestEmitLater(t *testing.T) {
	db := newDB(t)
	now := time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC)
	db.SetNow(now)
	at := truncated(now.Add(36*time.Hour + 1234567*time.Microsecond))
	for name, opts := range map[string]queue.EmitOptions{
		"at":    {DeliverAt: at.In(time.FixedZone("", -9*3600))},
		"after": {Delay: at.Sub(now)},
	} {
		r, err := bus.Emit(t.Context(), db.Pool, "later."+name, nil, &opts)
		if err != nil || r.MessageID != 0 || r.EventID == 0 {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		if due := dbtest.Get[time.Time](db, "select due_at from core.delayed where event_type = $1", "later."+name); !due.Equal(at) {
			t.Errorf("%s: due %s, want %s", name, due.UTC(), at)
		}
	}
	_, err := bus.Emit(t.Context(), db.Pool, "later", nil, &queue.EmitOptions{DeliverAt: at, Delay: time.Second})
	wantError(t, err, nexus.ErrInvalid, nexus.CodeOptionValue, "delay")
	_, err = bus.Emit(t.Context(), db.Pool, "later", nil, &queue.EmitOptions{Delay: -time.Second})
	wantError(t, err, nexus.ErrInvalid, nexus.CodeOptionValue, "delay")
}

func TestEmitDuplicate(t *testing.T) {
	db := newDB(t)
	opts := &queue.EmitOptions{DedupeKey: "payment-1"}
	first, err := bus.Emit(t.Context(), db.Pool, "paid", nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	second, err := bus.Emit(t.Context(), db.Pool, "paid", nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	if first.Duplicate || !second.Duplicate || second.EventID != first.EventID || second.EventUID != first.EventUID {
		t.Errorf("first %+v, second %+v", first, second)
	}
}

func TestChainComesFromTheContext(t *testing.T) {
	db := newDB(t)
	uid, other := uuid.New(), uuid.New()
	for name, test := range map[string]struct {
		handled *nexus.Delivery
		opts    queue.EmitOptions
		want    logged
	}{
		"nothing handled":  {nil, queue.EmitOptions{}, logged{}},
		"start of a chain": {&nexus.Delivery{Event: nexus.Event{UID: uid}}, queue.EmitOptions{}, logged{Correlation: uid.String(), Causation: uid, Depth: 1}},
		"further on": {
			&nexus.Delivery{Event: nexus.Event{UID: uid, CorrelationID: "c", Depth: 4}}, queue.EmitOptions{},
			logged{Correlation: "c", Causation: uid, Depth: 5},
		},
		"given by the emitter": {
			&nexus.Delivery{Event: nexus.Event{UID: uid, CorrelationID: "c"}}, queue.EmitOptions{CorrelationID: "d", CausationUID: other},
			logged{Correlation: "d", Causation: other, Depth: 1},
		},
		"a message by hand": {&nexus.Delivery{}, queue.EmitOptions{}, logged{Depth: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if test.handled != nil {
				ctx = nexus.WithDelivery(ctx, test.handled)
			}
			r, err := bus.Emit(ctx, db.Pool, "next", nil, &test.opts)
			if err != nil {
				t.Fatal(err)
			}
			batch, err := bus.EmitBatch(ctx, db.Pool, []queue.Emission{{Type: "next", EmitOptions: test.opts}})
			if err != nil {
				t.Fatal(err)
			}
			test.want.Type, test.want.Payload = "next", "{}"
			for _, id := range []int64{r.EventID, batch[0].EventID} {
				if diff := cmp.Diff(test.want, log(t, db, id)); diff != "" {
					t.Errorf("in the log (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// A refused payload must not cost the transaction.
func TestPayloadsAreRefusedBeforeTheDatabaseIsAsked(t *testing.T) {
	bad := json.RawMessage(`{"a":["\u0000"]}`)
	_, err := bus.Emit(t.Context(), unasked{t}, "x", bad, nil)
	wantError(t, err, nexus.ErrInvalid, nexus.CodePayload, "p_payload")
	if !strings.Contains(err.Error(), "$.a[0]") {
		t.Errorf("does not name the place: %v", err)
	}
	_, err = bus.EmitBatch(t.Context(), unasked{t}, []queue.Emission{{Type: "x"}, {Type: "x", Payload: bad}})
	wantError(t, err, nexus.ErrInvalid, nexus.CodePayload, "p_payloads[2]")

	_, err = bus.Emit(t.Context(), unasked{t}, "x", nil, &queue.EmitOptions{DedupeKey: "\xff"})
	wantError(t, err, nexus.ErrInvalid, nexus.CodeOptionValue, "dedupe_key")
	_, err = bus.Emit(t.Context(), unasked{t}, "x", nil, &queue.EmitOptions{Headers: map[string]string{"h": "a\x00"}})
	wantError(t, err, nexus.ErrInvalid, nexus.CodeOptionValue, "headers")
	_, err = bus.EmitBatch(t.Context(), unasked{t}, []queue.Emission{{}, {}, {EmitOptions: queue.EmitOptions{Tags: []string{"\xff"}}}})
	wantError(t, err, nexus.ErrInvalid, nexus.CodeOptionValue, "tags[3]")
}

func TestTheDatabaseRefuses(t *testing.T) {
	db := newDB(t)
	many := make([]queue.Emission, 10_001)
	for i := range many {
		many[i].Type = "x"
	}
	for name, test := range map[string]struct {
		emitter queue.Emitter
		batch   []queue.Emission
		family  error
		code    string
		field   string
	}{
		"a namespace's name":   {queue.Emitter{Namespace: "Shop"}, []queue.Emission{{Type: "x"}}, nexus.ErrInvalid, nexus.CodeNamespaceName, "p_namespace"},
		"an unknown namespace": {queue.Emitter{Namespace: "none"}, []queue.Emission{{Type: "x"}}, nexus.ErrNotFound, nexus.CodeNoNamespace, "p_namespace"},
		"an event type":        {bus, []queue.Emission{{Type: "x"}, {Type: "no type"}}, nexus.ErrInvalid, nexus.CodeEventType, "p_event_types[2]"},
		"what is no text":      {bus, []queue.Emission{{Type: "x"}, {Type: "\xff"}}, nexus.ErrInvalid, nexus.CodeArgumentValue, "p_event_types[2]"},
		"too many":             {bus, many, nexus.ErrLimit, nexus.CodeTooManyEvents, "p_event_types"},
		"a payload's size": {
			bus, []queue.Emission{{Type: "x"}, {Type: "x", Payload: strings.Repeat("x", 9<<20)}}, nexus.ErrLimit, nexus.CodePayloadTooLarge, "p_payloads[2]",
		},
		"an option": {
			bus, []queue.Emission{{Type: "x"}, {Type: "x", EmitOptions: queue.EmitOptions{Headers: map[string]string{"Nexus-x": ""}}}},
			nexus.ErrInvalid, nexus.CodeOptionValue, "headers[2].Nexus-x",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.emitter.EmitBatch(t.Context(), db.Pool, test.batch)
			wantError(t, err, test.family, test.code, test.field)
		})
	}
	if n := dbtest.Get[int64](db, "select count(*) from core.event_log"); n != 0 {
		t.Errorf("%d events in the log", n)
	}
}

// Receipts are in the order of the batch and belong to its events, on each kind of handle and in each query mode.
// holds: others-pooler
func TestEmitBatchEveryWay(t *testing.T) {
	db := newDB(t)
	dbtest.EveryWay(t, db.Pool, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		emitMany(t, db, q, 1)
		emitMany(t, db, q, 1000)
	})
	t.Run("the largest batch", func(t *testing.T) { emitMany(t, db, db.Pool, 10_000) })
}

func emitMany(t *testing.T, db *dbtest.DB, q nexus.DBTX, n int) {
	t.Helper()
	const text = `q"b\s é'{},`
	batch := make([]queue.Emission, n)
	for i := range batch {
		batch[i] = queue.Emission{Type: fmt.Sprintf("type.%d", i), Payload: map[string]any{"text": text, "i": i}}
		if i%1000 == 999 {
			batch[i].Tags = []string{"every, \"thousandth\""}
		}
	}
	receipts, err := bus.EmitBatch(t.Context(), q, batch)
	if err != nil {
		t.Fatal(err)
	}
	ids, messages, uids := make([]int64, n), make([]int64, n), make([]string, n)
	for i, r := range receipts {
		ids[i], messages[i], uids[i] = r.EventID, r.MessageID, r.EventUID.String()
	}
	var asEmitted, onQueue, tagged int
	err = db.Owner.QueryRow(t.Context(), `select count(*) filter (where l.event_type = 'type.' || (u.n - 1) and l.payload ->> 'i' = (u.n - 1)::text
				and l.payload ->> 'text' = $2 and l.event_uid::text = u.uid),
			count(*) filter (where q.message ->> 'eventUid' = u.uid), count(l.tags)
		from unnest($1::bigint[], $3::bigint[], $4::text[]) with ordinality u(id, message_id, uid, n)
		join core.event_log l on l.event_id = u.id join pgmq.q_core_events_shop q on q.msg_id = u.message_id`,
		ids, text, messages, uids).Scan(&asEmitted, &onQueue, &tagged)
	if err != nil || asEmitted != n || onQueue != n || tagged != n/1000 {
		t.Errorf("of %d: %d in the log as emitted, %d on the queue, %d tagged: %v", n, asEmitted, onQueue, tagged, err)
	}
}

func TestEmitEveryWay(t *testing.T) {
	db := newDB(t)
	dbtest.EveryWay(t, db.Pool, func(t *testing.T, q nexus.DBTX) {
		t.Helper()
		r, err := bus.Emit(t.Context(), q, "one", nil, &queue.EmitOptions{Delay: time.Hour})
		if err != nil || r.EventID == 0 || r.EventUID == uuid.Nil || r.MessageID != 0 {
			t.Errorf("delayed: %+v, %v", r, err)
		}
		r, err = bus.Emit(t.Context(), q, "one", `q"b\s é'{},`, nil)
		if err != nil || r.MessageID == 0 {
			t.Errorf("at once: %+v, %v", r, err)
		}
		_, err = bus.Emit(t.Context(), q, "no type", nil, nil)
		wantError(t, err, nexus.ErrInvalid, nexus.CodeEventType, "p_event_type")
	})
}

func TestDuplicatesInABatch(t *testing.T) {
	db := newDB(t)
	key := queue.EmitOptions{DedupeKey: "k"}
	r, err := bus.EmitBatch(t.Context(), db.Pool, []queue.Emission{
		{Type: "a"}, {Type: "a", EmitOptions: key}, {Type: "a", EmitOptions: key}, queue.EmissionOf(nexus.EventType[int]("a"), 7, &key),
	})
	if err != nil {
		t.Fatal(err)
	}
	if r[0].Duplicate || r[1].Duplicate || !r[2].Duplicate || !r[3].Duplicate || r[3].EventUID != r[1].EventUID || r[0].EventID == r[1].EventID {
		t.Errorf("receipts %+v", r)
	}
}

// holds: others-batches
func TestEmptyBatchDoesNothing(t *testing.T) {
	called := false
	e := queue.Emitter{Middleware: []queue.Middleware{{Emit: func(context.Context, []queue.Emission, func(context.Context) error) error {
		called = true
		return nil
	}}}}
	if r, err := e.EmitBatch(t.Context(), unasked{t}, nil); r != nil || err != nil || called {
		t.Errorf("%v, %v, middleware called: %v", r, err, called)
	}
}

func wantError(t *testing.T, err, family error, code, field string) {
	t.Helper()
	e, ok := errors.AsType[*nexus.Error](err)
	if !ok || !errors.Is(err, family) || e.Code != code || e.Field != field || e.Hint == "" {
		t.Errorf("got %#v (%v); want %v, code %s, field %s, and a hint", err, err, family, code, field)
	}
}
