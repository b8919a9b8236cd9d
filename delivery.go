package nexus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
)

// Delivery is an event on its way to one consumer, at one attempt.
type Delivery struct {
	Event
	Consumer    string // "default" unless the consumer was named
	Target      string // the key of the handler that a trigger or a request names: "go:mail"; "" for what goes by its event type
	MessageID   int64  // on the consumer's queue
	Attempt     int    // 1 on the first try; a release does not use one
	MaxAttempts int    // after which the delivery becomes a dead letter; -1: never
	Deferrals   int    // how often it was released so far

	held any // see Bind
}

// Bind ties d to what its holder knows it by, which is for nodes: [queue.Ack] and [At] go by that and by no field of d. Copies of d are
// bound to the same.
//
// [queue.Ack]: https://pkg.go.dev/github.com/nexuspg/nexus/queue#Ack
func Bind(d *Delivery, to any) { d.held = to }

// Bound returns what d, which is not nil, was bound to; nil for a delivery that was made by hand.
func Bound(d *Delivery) any { return d.held }

// Decode unmarshals the payload into v. Numbers that end up in an interface become [json.Number], so that integers keep all
// their digits. Anything after the one JSON value is an error.
func (d *Delivery) Decode(v any) error {
	if err := decode(d.Payload, v); err != nil {
		return fmt.Errorf("nexus: decode payload of %q (event %d): %w", d.Type, d.ID, err)
	}
	return nil
}

func decode(payload []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		return err
	}
	// A decoder stops after the first value; only the end of input proves that there was no second one.
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the JSON value")
	}
	return nil
}

// IdempotencyKey is the same on every attempt and every replay of this event for this consumer, and differs between
// consumers, and between triggers. Hand it to services that take such a key.
func (d *Delivery) IdempotencyKey() string {
	if d.TriggerID != uuid.Nil {
		return fmt.Sprintf("%s/%s/%s", d.Namespace, d.TriggerID, d.UID)
	}
	return fmt.Sprintf("%s/%s/%s", d.Namespace, d.Consumer, d.UID)
}

// DeliveryOf is a delivery whose payload has been decoded into T. Its Payload hides the raw one, which stays reachable as
// d.Delivery.Payload.
type DeliveryOf[T any] struct {
	*Delivery
	Payload T
}

type deliveryKey struct{}

// WithDelivery returns a context that carries d. What is emitted under it takes its correlation id, causation and depth
// from d. A node does this for handlers that get one delivery; a batch handler does it itself for each.
func WithDelivery(ctx context.Context, d *Delivery) context.Context {
	return context.WithValue(ctx, deliveryKey{}, d)
}

// DeliveryFrom returns the delivery that ctx carries, and whether it carries one.
func DeliveryFrom(ctx context.Context) (*Delivery, bool) {
	d, ok := ctx.Value(deliveryKey{}).(*Delivery)
	return d, ok && d != nil
}
