package observe

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/telemetry"
	"github.com/nexuspg/nexus/internal/work"
)

// spans is the observer that traces for one consumer.
type spans struct {
	tracer    trace.Tracer
	namespace nexus.Namespace
	consumer  string
	pattern   func(eventType string) string
}

// Spans opens a span around each call of handlers. A call with one delivery is a child of the span that emitted the event, so that
// a trace goes on where it was emitted; each attempt is a span of its own. A call with many begins a trace of its own, with links
// to where its events come from.
func Spans(provider trace.TracerProvider, ns nexus.Namespace, consumer string, pattern func(eventType string) string) work.Observer {
	return &spans{tracer: provider.Tracer(telemetry.Scope), namespace: ns, consumer: consumer, pattern: pattern}
}

// Claimed implements [work.Observer].
func (*spans) Claimed([]work.Item, int) {}

// HeldBack implements [work.Observer].
func (*spans) HeldBack(work.Hold) {}

// Settled implements [work.Observer].
func (*spans) Settled([]work.Result, []work.Outcome) {}

// LeaseLost implements [work.Observer].
func (*spans) LeaseLost(*nexus.Delivery) {}

// Handling implements [work.Observer].
func (s *spans) Handling(ctx context.Context, batch []*nexus.Delivery) (context.Context, func([]work.Observed, time.Duration)) {
	d := batch[0]
	pattern := s.pattern(work.KindOf(d))
	attrs := []attribute.KeyValue{
		telemetry.AttrSystem.String(telemetry.System), telemetry.AttrOperation.String("handle"), telemetry.AttrOperationIs.String("process"),
		telemetry.AttrNamespace.String(string(s.namespace)), telemetry.AttrGroup.String(s.consumer), telemetry.AttrTemplate.String(pattern),
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindConsumer)}
	if len(batch) == 1 {
		attrs = append(attrs, telemetry.AttrDestination.String(d.Type), telemetry.AttrMessage.String(d.UID.String()),
			telemetry.AttrEventID.Int64(d.ID), telemetry.AttrAttempt.Int(d.Attempt), telemetry.AttrDeferrals.Int(d.Deferrals))
		if d.CorrelationID != "" {
			attrs = append(attrs, telemetry.AttrConversation.String(d.CorrelationID))
		}
		if origin := telemetry.Origin(d.Headers); origin.IsValid() {
			ctx = trace.ContextWithRemoteSpanContext(ctx, origin)
		} else {
			options = append(options, trace.WithNewRoot()) // not a child of whatever Run was called in
		}
	} else {
		attrs = append(attrs, telemetry.AttrBatch.Int(len(batch)))
		options = append(options, trace.WithNewRoot(), trace.WithLinks(links(batch)...))
	}
	ctx, span := s.tracer.Start(ctx, "handle "+pattern, append(options, trace.WithAttributes(attrs...))...)
	return ctx, func(results []work.Observed, _ time.Duration) {
		for i := range results {
			conclude(span, batch[i], &results[i], len(batch) > 1)
		}
		span.End()
	}
}

func links(batch []*nexus.Delivery) []trace.Link {
	var all []trace.Link
	for _, d := range batch {
		if origin := telemetry.Origin(d.Headers); origin.IsValid() {
			all = append(all, trace.Link{SpanContext: origin, Attributes: []attribute.KeyValue{telemetry.AttrMessage.String(d.UID.String())}})
		}
	}
	return all
}

var errLate = errors.New("the handler came back too late: its event was settled without it")

// conclude writes a result into the span: as its own, or, of one of many, as an event.
func conclude(span trace.Span, d *nexus.Delivery, r *work.Observed, many bool) {
	if r.Late {
		telemetry.Failed(span, errLate, "late")
		return
	}
	attrs := []attribute.KeyValue{telemetry.AttrVerdict.String(r.Action.String())}
	if r.Reason != "" {
		attrs = append(attrs, telemetry.AttrReason.String(r.Reason))
	}
	if many {
		if r.Action != work.Ack {
			attrs = append(attrs, telemetry.AttrMessage.String(d.UID.String()))
			span.AddEvent("verdict", trace.WithAttributes(attrs...))
		}
	} else {
		span.SetAttributes(attrs...)
	}
	// A release is no failure: the handler was in time to say "later".
	if r.Action == work.Ack || r.Action == work.Release {
		return
	}
	switch {
	case r.Err != nil:
		telemetry.Failed(span, r.Err, r.Reason)
	default:
		span.SetStatus(codes.Error, r.Error) // the handler returned nil and its commit failed
		span.SetAttributes(telemetry.AttrErrorType.String(r.Reason))
	}
}
