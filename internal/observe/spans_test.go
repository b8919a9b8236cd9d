package observe

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/work"
)

// A batch has many origins and can be the child of none: its span has links to those that there are.
// holds: traces
func TestABatchHasLinks(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	o := Spans(provider, "shop", "default", func(string) string { return "page.*" })
	ctx, outer := provider.Tracer("test").Start(t.Context(), "what Run was called in")
	origins := []string{"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "", "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203332-01"}
	var batch []*nexus.Delivery
	for _, origin := range origins {
		d := &nexus.Delivery{Event: nexus.Event{UID: uuid.New(), Type: "page.viewed"}}
		if origin != "" {
			d.Headers = map[string]string{"traceparent": origin}
		}
		batch = append(batch, d)
	}
	ctx, end := o.Handling(ctx, batch)
	if trace.SpanContextFromContext(ctx).SpanID() == outer.SpanContext().SpanID() {
		t.Error("handlers do not get the span")
	}
	end([]work.Observed{
		{Result: work.Result{Action: work.Ack}},
		{Result: work.Result{Action: work.Retry, Reason: "error"}, Err: errors.New("boom")},
		{Result: work.Result{Action: work.Release}},
	}, 0)
	got := spans.GetSpans()
	if len(got) != 1 || got[0].Name != "handle page.*" || got[0].Parent.IsValid() {
		t.Fatalf("spans %+v", got)
	}
	s := got[0]
	if len(s.Links) != 2 || s.Links[0].SpanContext.TraceID().String() != origins[0][3:35] || s.Links[1].SpanContext.TraceID().String() != origins[2][3:35] {
		t.Errorf("links %+v", s.Links)
	}
	// A verdict each for the failed and the released one, and the error.
	if len(s.Events) != 3 || s.Status.Code != codes.Error || s.Status.Description != "boom" {
		t.Errorf("events %+v, status %+v", s.Events, s.Status)
	}
}

type panicking struct{}

func (panicking) Error() string { panic("in Error") }

func TestErrorsThatPanic(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	_, end := Spans(provider, "shop", "default", func(string) string { return "x" }).Handling(t.Context(), []*nexus.Delivery{{}})
	end([]work.Observed{{Result: work.Result{Action: work.Retry}, Err: panicking{}}}, 0)
	if got := spans.GetSpans(); len(got) != 1 || got[0].Status.Code != codes.Error {
		t.Errorf("%+v", got)
	}
}
