package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/telemetry"
)

// Emitter emits into one namespace.
type Emitter struct {
	Namespace  nexus.Namespace
	Producer   string // recorded with each event as the node that produced it
	Middleware []Middleware
}

// EmitOptions are the options of core.emit. Zero values mean "not given", so an empty DedupeKey is no key and dedupes nothing:
// a program that computes one must see to it that it isn't empty. SQL and the command line, which can tell the two apart, refuse
// an empty one.
type EmitOptions struct {
	DedupeKey string // a second event with the key is a duplicate, for as long as the namespace remembers keys

	// DedupeWhile ends the key with its event, and not before. Empty: it ends when the namespace forgets keys.
	DedupeWhile DedupeWhile

	OrderingKey   string            // picks the lane in ordered consumers
	DeliverAt     time.Time         // not before; excludes Delay
	Delay         time.Duration     // not before this much later, counted in microseconds
	Headers       map[string]string // names that begin with "nexus-" are refused
	CorrelationID string            // default: that of the delivery in the context, or else its UID
	CausationUID  uuid.UUID         // default: the UID of the delivery in the context
	Broadcast     bool              // to each node of the namespace as well, see docs/guides/broadcast.md; not with a delay
	AuthoredAt    time.Time         // when it happened, if that is not now
	Tags          []string

	// Priority is 1 (first, and what counts as given where it is 0) to 4 (last). It is for consumers with levels, see [ConsumerOptions]; others
	// take events in their order.
	Priority int
}

// DedupeWhile is how long a dedupe key holds that ends with its event, see [EmitOptions].
type DedupeWhile string

const (
	// WhileQueued holds the key until a node takes the event, also while that is delayed, parked or waits for another attempt. Nobody takes
	// it before the transaction of whoever was told of a duplicate has ended: so each change is seen by a handler that began after it.
	WhileQueued DedupeWhile = "queued"
	// WhilePending holds it until the event has been handled or has become a dead letter. What changes under a running handler is not
	// asked for again: it is for work of which one run is enough.
	WhilePending DedupeWhile = "pending"
)

// Emission is one event of a batch.
type Emission struct {
	Type    string
	Payload any // json.RawMessage as it is, nil as {}, anything else by json.Marshal
	EmitOptions
}

// EmissionOf is an [Emission] whose payload the compiler checks. opts may be nil.
func EmissionOf[T any](t nexus.EventType[T], payload T, opts *EmitOptions) Emission {
	return emission(string(t), payload, opts)
}

func emission(eventType string, payload any, opts *EmitOptions) Emission {
	m := Emission{Type: eventType, Payload: payload}
	if opts != nil {
		m.EmitOptions = *opts
	}
	return m
}

// Receipt says what was written for an event.
type Receipt struct {
	EventID   int64     // in the event log
	EventUID  uuid.UUID // stable over replays and restores
	MessageID int64     // on the main queue; 0 if it is not there (yet)
	Duplicate bool      // nothing was written; the ids are those of the first event with this DedupeKey
}

// Emit writes an event, with its deliveries, where q points. opts may be nil.
//
// A payload that could not be kept exactly is refused before q is asked: [nexus.ErrInvalid], code [nexus.CodePayload].
// The other refusals are those of core.emit; on a transaction they end it, as every error of Postgres does.
func (e Emitter) Emit(ctx context.Context, q nexus.DBTX, eventType string, payload any, opts *EmitOptions) (Receipt, error) {
	batch := []Emission{emission(eventType, payload, opts)}
	receipts, err := e.through(ctx, batch, func(ctx context.Context) ([]Receipt, error) {
		ctx, end := telemetry.Emitting(ctx, e.Namespace, batch[0].Type, 1)
		r, err := e.emit(ctx, q, batch[0])
		if err != nil {
			end(err)
			return nil, err
		}
		end(nil, telemetry.AttrMessage.String(r.EventUID.String()), telemetry.AttrEventID.Int64(r.EventID))
		return []Receipt{r}, nil
	})
	if err != nil {
		return Receipt{}, err
	}
	return receipts[0], nil
}

// EmitT is [Emitter.Emit] with a payload that the compiler checks.
func EmitT[T any](ctx context.Context, q nexus.DBTX, e Emitter, t nexus.EventType[T], payload T, opts *EmitOptions) (Receipt, error) {
	return e.Emit(ctx, q, string(t), payload, opts)
}

// EmitBatch writes all events or none, at most 10,000, and returns their receipts in the order of the batch. An empty batch
// does nothing at all. The Field of an error names the event, counted from 1 as arrays are in SQL: "p_payloads[3]".
func (e Emitter) EmitBatch(ctx context.Context, q nexus.DBTX, batch []Emission) ([]Receipt, error) {
	if len(batch) == 0 {
		return nil, nil
	}
	if len(e.Middleware) > 0 {
		// Middleware may change what is emitted, but not what the caller holds.
		batch = slices.Clone(batch)
	}
	return e.through(ctx, batch, func(ctx context.Context) ([]Receipt, error) {
		ctx, end := telemetry.Emitting(ctx, e.Namespace, onlyType(batch), len(batch))
		receipts, err := e.emitBatch(ctx, q, batch)
		end(err)
		return receipts, err
	})
}

// onlyType is the type of all events of a batch, "" if they are of several.
func onlyType(batch []Emission) string {
	for i := range batch {
		if batch[i].Type != batch[0].Type {
			return ""
		}
	}
	return batch[0].Type
}

// through runs emit inside the middleware, the first of the list outermost.
func (e Emitter) through(ctx context.Context, batch []Emission, emit func(context.Context) ([]Receipt, error)) ([]Receipt, error) {
	var receipts []Receipt
	next := func(ctx context.Context) (err error) {
		receipts, err = emit(ctx)
		return err
	}
	for i := len(e.Middleware) - 1; i >= 0; i-- {
		if wrap, inner := e.Middleware[i].Emit, next; wrap != nil {
			next = func(ctx context.Context) error { return wrap(ctx, batch, inner) }
		}
	}
	if len(e.Middleware) > 0 {
		for i := range batch {
			batch[i].Headers = maps.Clone(batch[i].Headers)
		}
	}
	if err := next(ctx); err != nil {
		return nil, err
	}
	telemetry.Emitted(e.Namespace, written(receipts))
	if receipts == nil {
		return nil, errors.New("queue: a middleware reported success, but nothing was emitted")
	}
	return receipts, nil
}

// written is how many of them are no duplicates.
func written(receipts []Receipt) int {
	n := 0
	for i := range receipts {
		if !receipts[i].Duplicate {
			n++
		}
	}
	return n
}

func (e Emitter) emit(ctx context.Context, q nexus.DBTX, m Emission) (r Receipt, err error) {
	const op = "emit"
	payload, err := db.Payload(op, "p_payload", m.Payload)
	if err != nil {
		return r, err
	}
	options, err := e.options(ctx, op, "", &m.EmitOptions)
	if err != nil {
		return r, err
	}
	err = db.Call(ctx, q, op, `select event_id, event_uid, coalesce(message_id, 0), duplicate
		from core.emit($1::text, $2::text, $3::text::jsonb, $4::text::jsonb)`,
		[]any{string(e.Namespace), m.Type, payload, options},
		&r.EventID, &r.EventUID, &r.MessageID, &r.Duplicate)
	return r, err
}

func (e Emitter) emitBatch(ctx context.Context, q nexus.DBTX, batch []Emission) ([]Receipt, error) {
	const op = "emit_batch"
	var (
		types    = make([]string, len(batch))
		payloads = make([]string, len(batch))
		options  = make([]string, len(batch))
		err      error
	)
	for i := range batch {
		m := &batch[i]
		at := "[" + strconv.Itoa(i+1) + "]" // as SQL counts, so that errors of both name the element alike
		types[i] = m.Type
		if payloads[i], err = db.Payload(op, "p_payloads"+at, m.Payload); err != nil {
			return nil, err
		}
		if options[i], err = e.options(ctx, op, at, &m.EmitOptions); err != nil {
			return nil, err
		}
	}
	var (
		ids, messages []int64
		uids          []string
		duplicates    []bool
	)
	err = db.Call(ctx, q, op, `select array_agg(event_id order by n), array_agg(event_uid::text order by n),
			array_agg(coalesce(message_id, 0) order by n), array_agg(duplicate order by n)
		from core.emit_batch($1::text, $2::text[], $3::text[]::jsonb[], $4::text[]::jsonb[])
			with ordinality as r(event_id, event_uid, message_id, duplicate, n)`,
		[]any{string(e.Namespace), types, payloads, options},
		&ids, &uids, &messages, &duplicates)
	if err != nil {
		return nil, err
	}
	if len(ids) != len(batch) {
		return nil, fmt.Errorf("%s: %d receipts for %d events", op, len(ids), len(batch))
	}
	receipts := make([]Receipt, len(batch))
	for i := range receipts {
		receipts[i] = Receipt{EventID: ids[i], MessageID: messages[i], Duplicate: duplicates[i]}
		if receipts[i].EventUID, err = uuid.Parse(uids[i]); err != nil {
			return nil, fmt.Errorf("%s: event_uid: %w", op, err)
		}
	}
	return receipts, nil
}

// options writes the options of core.emit.
func (e Emitter) options(ctx context.Context, op, at string, m *EmitOptions) (string, error) {
	return e.optionsOf(ctx, op, at, m).Encode()
}

func (e Emitter) optionsOf(ctx context.Context, op, at string, m *EmitOptions) *db.Options {
	o := db.NewOptions(op, at)
	o.Text("dedupe_key", m.DedupeKey)
	o.Text("dedupe_while", string(m.DedupeWhile))
	o.Text("ordering_key", m.OrderingKey)
	o.Time("deliver_at", m.DeliverAt)
	o.Duration("delay", m.Delay)
	o.Map("headers", telemetry.Headers(ctx, m.Headers))
	o.Text("producer", e.Producer)
	o.Chain(ctx, m.CorrelationID, m.CausationUID)
	o.Flag("broadcast", m.Broadcast)
	o.Time("authored_at", m.AuthoredAt)
	o.Texts("tags", m.Tags)
	o.Number("priority", int64(m.Priority))
	return o
}
