package observe

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/nexuspg/nexus/internal/telemetry"
	"github.com/nexuspg/nexus/internal/work"
)

// Steps measures and traces steps of workflows; m and provider may be nil, and of neither there is no observer.
//
// A run may take a year, and go over many nodes. So its steps are no children of what started it, which would be one trace without end: each has a trace
// of its own, with a link to that.
func Steps(m *Metrics, provider trace.TracerProvider) work.StepObserver {
	var tracer trace.Tracer
	if provider != nil {
		tracer = provider.Tracer(telemetry.Scope)
	}
	if m == nil && tracer == nil {
		return nil
	}
	return func(ctx context.Context, s work.Step) (context.Context, func(work.Result, error, bool, time.Duration)) {
		var span trace.Span
		if tracer != nil {
			ctx, span = begin(ctx, tracer, &s)
		}
		return ctx, func(r work.Result, err error, late bool, took time.Duration) {
			result := r.Action.String()
			if late {
				result = "late"
			}
			if m != nil {
				m.stepDuration.WithLabelValues(string(s.Namespace), s.Workflow, result).Observe(took.Seconds())
			}
			if span != nil {
				conclude(span, nil, &work.Observed{Result: r, Err: err, Late: late}, false)
				span.End()
			}
		}
	}
}

func begin(ctx context.Context, tracer trace.Tracer, s *work.Step) (context.Context, trace.Span) {
	operation := "step"
	if s.Undo {
		operation = "undo"
	}
	attrs := []attribute.KeyValue{
		telemetry.AttrSystem.String(telemetry.System), telemetry.AttrOperation.String(operation), telemetry.AttrOperationIs.String("process"),
		telemetry.AttrNamespace.String(string(s.Namespace)), telemetry.AttrWorkflow.String(s.Workflow), telemetry.AttrRun.String(s.Run.String()),
		telemetry.AttrStep.String(s.Key), telemetry.AttrAttempt.Int(s.Attempt), telemetry.AttrConversation.String(s.CorrelationID),
	}
	options := []trace.SpanStartOption{trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(attrs...)}
	if origin := telemetry.Origin(map[string]string{"traceparent": s.Traceparent}); origin.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: origin}))
	}
	return tracer.Start(ctx, operation+" "+s.Workflow, options...)
}
