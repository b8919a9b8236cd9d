package nexustest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
)

// Delivery makes one by hand, at its first attempt of ten, for calling a handler's function without a database. Change what the
// test is about:
//
//	d := nexustest.Delivery(OrderPlaced, Order{ID: "2"})
//	d.Attempt = d.MaxAttempts
//
// It panics if payload cannot be JSON. What Emit does to a payload happens here too: the handler gets what it would get from a
// queue, not the very value.
func Delivery[T any](t nexus.EventType[T], payload T) *nexus.DeliveryOf[T] {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(fmt.Sprintf("nexustest: payload of %s: %v", t, err))
	}
	d := &nexus.DeliveryOf[T]{Delivery: &nexus.Delivery{
		Event: nexus.Event{
			ID: 1, UID: uuid.New(), Namespace: "test", Type: string(t), Payload: raw, EmittedAt: time.Now(),
		},
		Consumer: "default", MessageID: 1, Attempt: 1, MaxAttempts: 10,
	}}
	if err := d.Decode(&d.Payload); err != nil {
		panic(fmt.Sprintf("nexustest: payload of %s: %v", t, err))
	}
	return d
}
