package telemetry

import (
	"context"
	"maps"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/nexuspg/nexus"
)

// Scope is the name of the tracer.
const Scope = "github.com/nexuspg/nexus"

// The attributes of spans: those of the semantic conventions for messaging, as far as they have a word for it, and ours.
const (
	AttrSystem       = attribute.Key("messaging.system")
	AttrOperation    = attribute.Key("messaging.operation.name")
	AttrOperationIs  = attribute.Key("messaging.operation.type")
	AttrDestination  = attribute.Key("messaging.destination.name")     // the event's type
	AttrTemplate     = attribute.Key("messaging.destination.template") // the handler's pattern
	AttrGroup        = attribute.Key("messaging.consumer.group.name")
	AttrMessage      = attribute.Key("messaging.message.id") // the event's UID
	AttrConversation = attribute.Key("messaging.message.conversation_id")
	AttrBatch        = attribute.Key("messaging.batch.message_count")
	AttrErrorType    = attribute.Key("error.type") // the reason of a failure that no handler chose
	AttrNamespace    = attribute.Key("nexus.namespace")
	AttrEventID      = attribute.Key("nexus.event_id")
	AttrAttempt      = attribute.Key("nexus.attempt")
	AttrDeferrals    = attribute.Key("nexus.deferrals")
	AttrVerdict      = attribute.Key("nexus.verdict") // ack, retry, reject, release
	AttrReason       = attribute.Key("nexus.reason")  // of a verdict
	AttrWorkflow     = attribute.Key("nexus.workflow")
	AttrRun          = attribute.Key("nexus.run_id")
	AttrStep         = attribute.Key("nexus.step") // its key in the journal
)

// System is the value of AttrSystem.
const System = "nexus"

// The W3C format, whatever the program propagates over HTTP: the database outlives the fashion.
var format propagation.TraceContext

// headerTraceparent is the one that format cannot do without.
const headerTraceparent = "traceparent"

// Emitting begins the span of an emit of n events, if ctx holds one to be its parent; the parent's provider makes it. end must be
// called. eventType is "" for a batch of several.
func Emitting(ctx context.Context, ns nexus.Namespace, eventType string, n int) (_ context.Context, end func(err error, attrs ...attribute.KeyValue)) {
	parent := trace.SpanFromContext(ctx)
	if !parent.SpanContext().IsValid() {
		return ctx, func(error, ...attribute.KeyValue) {}
	}
	name := "emit"
	attrs := []attribute.KeyValue{
		AttrSystem.String(System), AttrOperation.String("emit"), AttrOperationIs.String("send"), AttrNamespace.String(string(ns)),
	}
	if eventType != "" {
		name += " " + eventType
		attrs = append(attrs, AttrDestination.String(eventType))
	}
	if n > 1 {
		attrs = append(attrs, AttrBatch.Int(n))
	}
	ctx, span := parent.TracerProvider().Tracer(Scope).Start(ctx, name, trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(attrs...))
	return ctx, func(err error, attrs ...attribute.KeyValue) {
		span.SetAttributes(attrs...)
		if err != nil {
			Failed(span, err, "")
		}
		span.End()
	}
}

// Headers returns those of an event with the trace that ctx is part of, or, where nobody traces, that of the delivery in ctx, so
// that a program without traces does not cut one in two. Headers that name a trace already are left alone.
func Headers(ctx context.Context, headers map[string]string) map[string]string {
	if _, given := headers[headerTraceparent]; given {
		return headers
	}
	var more propagation.MapCarrier
	if trace.SpanContextFromContext(ctx).IsValid() {
		more = propagation.MapCarrier{}
		format.Inject(ctx, more)
	} else if d, ok := nexus.DeliveryFrom(ctx); ok && d.Headers[headerTraceparent] != "" {
		more = propagation.MapCarrier{}
		for _, field := range format.Fields() {
			if v := d.Headers[field]; v != "" {
				more[field] = v
			}
		}
	}
	if more == nil {
		return headers
	}
	all := maps.Clone(headers)
	if all == nil {
		return more
	}
	maps.Copy(all, more)
	return all
}

// Origin is the span that emitted an event, not valid if nobody traced that.
func Origin(headers map[string]string) trace.SpanContext {
	if headers[headerTraceparent] == "" {
		return trace.SpanContext{}
	}
	return trace.SpanContextFromContext(format.Extract(context.Background(), propagation.MapCarrier(headers)))
}

// Failed records an error. Errors have methods of their own, and those may panic.
func Failed(span trace.Span, err error, reason string) {
	defer func() {
		if recover() != nil {
			span.SetStatus(codes.Error, "an error whose Error method panics")
		}
	}()
	span.SetStatus(codes.Error, err.Error())
	span.RecordError(err)
	if reason != "" {
		span.SetAttributes(AttrErrorType.String(reason))
	}
}
