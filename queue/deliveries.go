package queue

import (
	"context"
	"encoding/json"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Deliveries names deliveries that have not ended: those of some events.
type Deliveries struct {
	Namespace nexus.Namespace
	EventIDs  []int64 // 1 to 10,000
	Consumer  string  // "": those to all consumers
}

// DeliveryOutcome is what became of one delivery, or of an event that has none.
type DeliveryOutcome struct {
	EventID      int64   `json:"event_id"`
	Consumer     string  `json:"consumer"` // "" where there is no delivery
	Outcome      Outcome `json:"outcome"`
	DeadLetterID int64   `json:"dead_letter_id"` // that keeps what was cancelled
	Detail       string  `json:"detail"`
}

// Outcome is an answer of [CancelDeliveries] or [RunDeliveriesNow]. None of them is an error.
type Outcome string

// The outcomes. The last three mean that nothing waits.
const (
	Cancelled  Outcome = "cancelled"   // nobody will handle it
	DueNow     Outcome = "due_now"     // the next free node handles it
	AlreadyDue Outcome = "already_due" // it was that before
	InFlight   Outcome = "in_flight"   // leased; Detail says since when, and until when
	Busy       Outcome = "busy"        // in an express batch, or held by another transaction: try again
	Parked     Outcome = "parked"      // no live node handles its type
	Dead       Outcome = "dead"        // a dead letter, for package deadletter
	Settled    Outcome = "settled"     // handled, or taken away before
	NotFound   Outcome = "not_found"   // the namespace has no such event
)

// CancelDeliveries takes deliveries back that wait for their turn, a retry, a delay or a node that handles their type, for a reason that is
// kept. Leases are respected. The events stay in the log, and each cancelled delivery in the ledger of dead letters, resolved as cancelled.
// It needs the duty to operate. There is an answer for each delivery, and for each event without one.
func CancelDeliveries(ctx context.Context, q nexus.DBTX, which Deliveries, reason string) ([]DeliveryOutcome, error) {
	return deliveries(ctx, q, "cancel_deliveries", "core.cancel_deliveries($1::text, $2::bigint[], $4::text, nullif($3::text, ''))", which, reason)
}

// RunDeliveriesNow makes deliveries due that wait for a retry or a delay. Attempts are counted on. It needs the duty to operate. There is
// an answer for each delivery, and for each event without one.
func RunDeliveriesNow(ctx context.Context, q nexus.DBTX, which Deliveries) ([]DeliveryOutcome, error) {
	return deliveries(ctx, q, "run_deliveries_now", "core.run_deliveries_now($1::text, $2::bigint[], nullif($3::text, ''))", which)
}

func deliveries(ctx context.Context, q nexus.DBTX, op, function string, which Deliveries, more ...any) (answers []DeliveryOutcome, err error) {
	ids := which.EventIDs
	if ids == nil {
		ids = []int64{}
	}
	var text string
	err = db.Call(ctx, q, op, "select coalesce(json_agg(json_strip_nulls(to_json(d))), '[]')::text from "+function+" d",
		append([]any{string(which.Namespace), ids, which.Consumer}, more...), &text)
	if err != nil {
		return nil, err
	}
	return answers, json.Unmarshal([]byte(text), &answers)
}
