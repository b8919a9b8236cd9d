package nexus

import (
	"fmt"
	"time"
)

// Verdict is what a handler decides when neither "done" (nil) nor "try again by policy" (any other error) will do. It is an
// error so that it can be wrapped with a cause or joined to one; the first that [errors.As] finds counts.
type Verdict struct {
	Action Action
	After  time.Duration // for ActionRetry and ActionRelease: no sooner than this after settling; from 0 to 30 days, else the nearer of the two
	Reason string        // for ActionReject: dead letters are grouped by it, so let it have few distinct values
}

// Action is the verb of a [Verdict], spelt as in core_node.settle.
type Action string

// What a verdict can ask for.
const (
	ActionRetry   Action = "retry"
	ActionReject  Action = "reject"
	ActionRelease Action = "release"
)

func (v *Verdict) Error() string {
	if v.Action == ActionReject {
		return "reject: " + v.Reason
	}
	return fmt.Sprintf("%s after %s", v.Action, v.After)
}

// Retry asks for another attempt once after has passed, in place of the delay the policy would give; the policy's Max does
// not bound it. It uses an attempt: at the last one the delivery becomes a dead letter. A negative delay, such as that until a
// time just past, counts as no delay; one above 30 days is 30 days.
func Retry(after time.Duration) error { return &Verdict{Action: ActionRetry, After: after} }

// Reject gives up on the delivery now: it becomes a dead letter with this reason.
func Reject(reason string) error { return &Verdict{Action: ActionReject, Reason: reason} }

// Release gives the delivery back as if it had not been tried, due again once after has passed (from 0 to 30 days, as
// for [Retry]). It uses no attempt and counts as a deferral.
func Release(after time.Duration) error { return &Verdict{Action: ActionRelease, After: after} }

// DeliveryError is the error of one delivery of a batch.
type DeliveryError struct {
	Delivery *Delivery
	Err      error
}

func (e *DeliveryError) Error() string {
	if e.Delivery == nil {
		return e.Err.Error()
	}
	return fmt.Sprintf("%s (event %d, message %d): %v", e.Delivery.Type, e.Delivery.ID, e.Delivery.MessageID, e.Err)
}

func (e *DeliveryError) Unwrap() error { return e.Err }

// At says that err belongs to d and to no other delivery of the batch; join several with [errors.Join]. The rest of the
// batch runs again without it. A batch error that names no delivery is narrowed down by halving. At of a nil error is nil.
func At(d *Delivery, err error) error {
	if err == nil {
		return nil
	}
	return &DeliveryError{Delivery: d, Err: err}
}
