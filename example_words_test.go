package nexus_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/nexuspg/nexus"
)

type Order struct {
	ID    string
	Cents int64
}

// A constant names the type and the payload that goes with it; emitters and handlers of it are held to that by the compiler.
const OrderPlaced nexus.EventType[Order] = "order.placed"

// What a handler returns says what becomes of the event. The verdict is found through wraps.
func ExampleReject() {
	settle := func(status int) error {
		switch {
		case status == 402:
			return fmt.Errorf("charge: %w", nexus.Reject("card declined")) // a dead letter, at once
		case status == 429:
			return nexus.Release(time.Minute) // not its fault: no attempt used
		case status >= 500:
			return nexus.Retry(10 * time.Second) // a failed attempt, and when the next one is due
		case status >= 400:
			return fmt.Errorf("charge: status %d", status) // a failed attempt, due by policy
		}
		return nil // done
	}
	for _, status := range []int{200, 402, 404, 429, 503} {
		err := settle(status)
		if v, ok := errors.AsType[*nexus.Verdict](err); ok {
			fmt.Printf("%d %s %q %s\n", status, v.Action, v.Reason, v.After)
		} else {
			fmt.Println(status, err)
		}
	}
	// Output:
	// 200 <nil>
	// 402 reject "card declined" 0s
	// 404 charge: status 404
	// 429 release "" 1m0s
	// 503 retry "" 10s
}

// A batch handler that knows which of its events are bad names them; the others are done without them.
func ExampleAt() {
	handle := func(batch []*nexus.DeliveryOf[Order]) error {
		var bad []error
		for _, d := range batch {
			if d.Payload.Cents <= 0 {
				bad = append(bad, nexus.At(d.Delivery, nexus.Reject("no amount")))
			}
		}
		return errors.Join(bad...)
	}
	fmt.Println(handle([]*nexus.DeliveryOf[Order]{
		{Delivery: &nexus.Delivery{MessageID: 1}, Payload: Order{Cents: 700}},
		{Delivery: &nexus.Delivery{MessageID: 2}},
	}))
	// Output: (event 0, message 2): reject: no amount
}
