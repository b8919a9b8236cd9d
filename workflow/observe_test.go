package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/workflow"
)

// holds: traces (workflows), metrics (workflows)
// Each call of a step is a span of its own trace, linked to what started the run, whichever node runs it; what it emits goes on with that. Each is counted.
func TestStepsAreTracedAndCounted(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	w := workflow.New[order, int]("w")
	w.Retry = quick
	workflow.TxStep(w, "tell", func(ctx context.Context, tx pgx.Tx, r *run) (int, error) {
		_, err := queue.Emitter{Namespace: ns}.Emit(ctx, tx, "told", nil, nil)
		return 1, err
	}).CompensateTx(func(context.Context, pgx.Tx, *run, int) error { return nil })
	workflow.Step(w, "flaky", func(_ context.Context, r *run) (int, error) {
		if r.Attempt == 1 {
			return 0, errors.New("boom")
		}
		return 0, nexus.Reject("no")
	})
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	reg := prometheus.NewRegistry()
	start(t, db, node.Config{ID: "n", Tracer: provider, Registerer: reg}, w)
	ctx, root := provider.Tracer("test").Start(t.Context(), "request")
	id, _, err := w.Start(ctx, db.Pool, ns, order{}, nil)
	root.End()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := await(t, db, w, id); err == nil {
		t.Fatal("it did not fail")
	}
	var got []string
	for _, s := range spans.GetSpans() {
		if !strings.HasSuffix(s.Name, " w") {
			continue
		}
		at := map[string]string{}
		for _, a := range s.Attributes {
			at[string(a.Key)] = a.Value.String()
		}
		linked := len(s.Links) == 1 && s.Links[0].SpanContext.SpanID() == root.SpanContext().SpanID() && s.SpanContext.TraceID() != root.SpanContext().TraceID()
		got = append(got, fmt.Sprintf("%s %s %s %s %t %t %t", s.Name, at["nexus.step"], at["nexus.attempt"], at["nexus.verdict"], s.Status.Code == codes.Error, linked, at["nexus.run_id"] == id.String()))
		if at["nexus.step"] == "tell" && s.Name == "step w" {
			told := dbtest.Get[string](db, `select headers ->> 'traceparent' from core.event_log where event_type = 'told'`)
			emits := slices.IndexFunc(spans.GetSpans(), func(e tracetest.SpanStub) bool {
				return e.Parent.SpanID() == s.SpanContext.SpanID() && strings.Contains(told, e.SpanContext.SpanID().String())
			})
			if emits < 0 {
				t.Errorf("what the step emits has the trace %s", told)
			}
		}
	}
	want := []string{"step w tell 1 ack false true true", "step w flaky 1 retry true true true", "step w flaky 2 reject true true true", "undo w tell 1 ack false true true"}
	if !slices.Equal(got, want) {
		t.Errorf("spans %q", got)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetValue())
			}
			values[strings.Join(append([]string{strings.TrimPrefix(f.GetName(), "nexus_workflow_")}, labels...), " ")] = m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	for name, want := range map[string]float64{
		"step_duration_seconds shop ack w": 2, "step_duration_seconds shop retry w": 1, "step_duration_seconds shop reject w": 1,
		"runs shop failed": 1, "runs shop open": 0, "due_lag_seconds shop": 0, "runs_stranded shop": 0, "runs_parked shop": 0,
	} {
		if got, there := values[name]; !there || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}
