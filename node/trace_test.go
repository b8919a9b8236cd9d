package node_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of database/sql
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// tracing is a provider and what it recorded.
func tracing(t *testing.T) (*sdktrace.TracerProvider, *tracetest.InMemoryExporter) {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	p := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	t.Cleanup(func() { _ = p.Shutdown(context.Background()) })
	return p, spans
}

func named(spans tracetest.SpanStubs, name string) tracetest.SpanStubs {
	return slices.DeleteFunc(slices.Clone(spans), func(s tracetest.SpanStub) bool { return s.Name != name })
}

func attr(s tracetest.SpanStub, key string) attribute.Value {
	for _, a := range s.Attributes {
		if string(a.Key) == key {
			return a.Value
		}
	}
	return attribute.Value{}
}

// Two programs, each with a provider and a pool of its own, and the database between them: one trace, with a span for the emit, one
// for each attempt, and the emit of the handler's own below that.
// holds: traces (pgx, database/sql, batch)
func TestOneTraceFromEmitToHandler(t *testing.T) {
	t.Parallel()
	for _, over := range []string{"pgx", "database/sql", "batch"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			db := newDB(t)
			shop, shopSpans := tracing(t)
			worker, workerSpans := tracing(t)
			bus := queue.Emitter{Namespace: ns}

			n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick, Tracer: worker})
			n.On("order.*", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
				if d.Attempt == 1 {
					return errors.New("boom")
				}
				_, err := bus.Emit(ctx, tx, "mail", nil, nil)
				return err
			})
			n.OnLeased("mail", func(context.Context, *nexus.Delivery) error { return nexus.Reject("no address") })

			ctx, request := shop.Tracer("test").Start(t.Context(), "request")
			switch over {
			case "pgx":
				if _, err := bus.Emit(ctx, db.Pool, "order.placed", nil, nil); err != nil {
					t.Fatal(err)
				}
			case "database/sql":
				pool, err := sql.Open("pgx", db.URL)
				if err != nil {
					t.Fatal(err)
				}
				defer pool.Close()
				if _, err := bus.Emit(ctx, nexus.SQL(pool), "order.placed", nil, nil); err != nil {
					t.Fatal(err)
				}
			case "batch":
				batch := []queue.Emission{{Type: "order.placed"}}
				if _, err := bus.EmitBatch(ctx, db.Pool, batch); err != nil {
					t.Fatal(err)
				}
				if batch[0].Headers != nil {
					t.Errorf("the caller's batch was changed: %v", batch[0].Headers)
				}
			}
			request.End()
			stop := start(t, n)
			db.Wait(`select count(*) = 1 from core.dead_letters`)
			stop()

			emits := named(shopSpans.GetSpans(), "emit order.placed")
			if len(emits) != 1 || emits[0].SpanKind != trace.SpanKindProducer || emits[0].Parent.SpanID() != request.SpanContext().SpanID() {
				t.Fatalf("emits %+v", emits)
			}
			attempts := named(workerSpans.GetSpans(), "handle order.*")
			if len(attempts) != 2 {
				t.Fatalf("%d spans of attempts", len(attempts))
			}
			for i, s := range attempts {
				if s.SpanContext.TraceID() != request.SpanContext().TraceID() || s.Parent.SpanID() != emits[0].SpanContext.SpanID() || !s.Parent.IsRemote() {
					t.Errorf("attempt %d is no child of the emit: %+v", i+1, s.Parent)
				}
				if s.SpanKind != trace.SpanKindConsumer || attr(s, "nexus.attempt").AsInt64() != int64(i+1) || attr(s, "messaging.destination.name").AsString() != "order.placed" {
					t.Errorf("attempt %d: %s %v", i+1, s.SpanKind, s.Attributes)
				}
			}
			failed, good := attempts[0], attempts[1]
			if failed.Status.Code != codes.Error || failed.Status.Description != "boom" || attr(failed, "nexus.verdict").AsString() != "retry" ||
				attr(failed, "error.type").AsString() != "error" || len(failed.Events) != 1 {
				t.Errorf("the failed attempt: %+v %v", failed.Status, failed.Attributes)
			}
			if good.Status.Code != codes.Unset || attr(good, "nexus.verdict").AsString() != "ack" {
				t.Errorf("the good attempt: %+v %v", good.Status, good.Attributes)
			}
			mails := named(workerSpans.GetSpans(), "emit mail")
			if len(mails) != 1 || mails[0].Parent.SpanID() != good.SpanContext.SpanID() {
				t.Fatalf("what the handler emitted: %+v", mails)
			}
			rejected := named(workerSpans.GetSpans(), "handle mail")
			if len(rejected) != 1 || rejected[0].Parent.SpanID() != mails[0].SpanContext.SpanID() || rejected[0].SpanContext.TraceID() != request.SpanContext().TraceID() ||
				attr(rejected[0], "nexus.verdict").AsString() != "reject" || attr(rejected[0], "nexus.reason").AsString() != "no address" {
				t.Errorf("the last of the trace: %+v", rejected)
			}
		})
	}
}

// What a handler's commit refuses is an error of its span, though the handler returned nil.
// holds: traces
func TestSpanOfAFailedCommit(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	p, spans := tracing(t)
	n := node.New(db.Pool, node.Config{Namespace: ns, Retry: quick, Tracer: p})
	n.On("x", func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		if d.Attempt == 1 {
			_, _ = tx.Exec(ctx, "select 1/0")
		}
		return nil
	})
	stop := start(t, n)
	emit(t, db, "x", nil)
	db.Wait(queueEmpty)
	stop()
	all := named(spans.GetSpans(), "handle x")
	if len(all) != 2 || all[0].Status.Code != codes.Error || attr(all[0], "error.type").AsString() != "commit" {
		t.Fatalf("spans %+v", all)
	}
	if all[0].Parent.IsValid() || all[0].SpanContext.TraceID() == all[1].SpanContext.TraceID() {
		t.Error("an event that nobody traced has a parent")
	}
}

// Without a provider nothing is recorded, and the trace goes through all the same.
// holds: traces
func TestTraceThroughANodeWithoutTracer(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	p, _ := tracing(t)
	bus := queue.Emitter{Namespace: ns}
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.On("first", func(ctx context.Context, tx pgx.Tx, _ *nexus.Delivery) error {
		_, err := bus.Emit(ctx, tx, "second", nil, &queue.EmitOptions{Headers: map[string]string{"k": "v"}})
		return err
	})
	ctx, request := p.Tracer("test").Start(t.Context(), "request")
	mine := map[string]string{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
	for _, headers := range []map[string]string{nil, mine} {
		if _, err := bus.Emit(ctx, db.Pool, "first", nil, &queue.EmitOptions{Headers: headers}); err != nil {
			t.Fatal(err)
		}
	}
	request.End()
	if len(mine) != 1 {
		t.Errorf("the caller's headers were changed: %v", mine)
	}
	if took, err := n.Work(t.Context(), 2); took != 2 || err != nil {
		t.Fatal(took, err)
	}
	traces := dbtest.Get[[]string](db, `select array_agg(headers ->> 'traceparent' order by event_id) from core.event_log where event_type = 'second'`)
	firsts := dbtest.Get[[]string](db, `select array_agg(headers ->> 'traceparent' order by event_id) from core.event_log where event_type = 'first'`)
	if !slices.Equal(traces, firsts) || firsts[1] != mine["traceparent"] {
		t.Errorf("first %q, second %q", firsts, traces)
	}
	if sc := request.SpanContext(); firsts[0][3:35] != sc.TraceID().String() {
		t.Errorf("traceparent %q of trace %s", firsts[0], sc.TraceID())
	}
	// And nobody traces: no header at all.
	emit(t, db, "third", nil)
	if dbtest.Get[bool](db, `select headers ? 'traceparent' is true from core.event_log where event_type = 'third'`) {
		t.Error("a header of a trace that is none")
	}
}
