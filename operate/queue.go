package operate

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/readmodel"
)

// QueueName is the main queue of a namespace, that of its consumer default. It goes by rule, whether there is such a namespace or not.
func QueueName(ctx context.Context, q nexus.DBTX, ns nexus.Namespace) (name string, err error) {
	err = db.Call(ctx, q, "queue_name_for_namespace", "select core.queue_name_for_namespace($1::text)", []any{string(ns)}, &name)
	return name, err
}

// DeadLetterQueueName is the dead-letter queue of a namespace. It holds copies: the ledger is core.dead_letters.
func DeadLetterQueueName(ctx context.Context, q nexus.DBTX, ns nexus.Namespace) (name string, err error) {
	err = db.Call(ctx, q, "dead_letter_queue_name_for_namespace", "select core.dead_letter_queue_name_for_namespace($1::text)", []any{string(ns)}, &name)
	return name, err
}

// State says where a delivery is. The words are those of core.queue_metrics.
type State string

// The states of a delivery that has not ended.
const (
	Visible  State = "visible"   // on the queue, to be claimed now
	Waiting  State = "waiting"   // on the queue, for its due time
	InFlight State = "in_flight" // leased to a node
	Delayed  State = "delayed"   // off the queue until its due time
	Parked   State = "parked"    // no live node handles its type
)

// The states in which an event can be besides, for a consumer.
const (
	Dead             State = "dead"               // an unresolved dead letter
	Settled          State = "settled"            // handled, or removed from the queue
	Discarded        State = "discarded"          // its dead letter was
	Ignored          State = "ignored"            // its dead letter was
	HandledByHandler State = "handled_by_handler" // its dead letter was resolved so
	Cancelled        State = "cancelled"          // nobody handled it
	Unknown          State = "unknown"            // its queue is too long to look through, or has lost its table
)

// Message is one message of a queue.
type Message struct {
	ID         int64     `json:"msg_id"` // 0: delayed, and not on the queue yet; EnqueuedAt is zero then
	State      State     `json:"state"`
	Type       string    `json:"event_type"` // "unknown.raw" for what is no envelope
	ReadCount  int       `json:"read_ct"`    // how often it was claimed
	EnqueuedAt time.Time `json:"enqueued_at"`

	// DueAt is when it may be claimed, or when its lease ends. It is zero for one that is parked, and for one that somebody
	// put off for ever.
	DueAt time.Time `json:"vt"`

	Body    json.RawMessage `json:"message"` // the envelope
	Headers json.RawMessage `json:"headers"` // null if there are none
}

// Peek returns the first messages of a queue, by their ids; if there is room also those that are parked or delayed. limit is 1 to 1,000.
// It takes no lease and uses up no attempt. It needs the duty to read.
func Peek(ctx context.Context, q nexus.DBTX, queue string, limit int) ([]Message, error) {
	var messages []Message
	err := rows(ctx, q, "peek", "select msg_id, state, event_type, read_ct, enqueued_at, "+finite("vt")+", message, headers from ("+readmodel.Peek+") r",
		&messages, queue, limit)
	return messages, err
}

// Purged counts messages that were removed.
type Purged struct {
	Removed  int64 `json:"removed"`   // from the queue
	InFlight int64 `json:"in_flight"` // among the removed: the holder of one hears that its lease is lost
	Delayed  int64 `json:"delayed"`   // that were to come later
	Parked   int64 `json:"parked"`
}

// all are the messages, wherever they were.
func (p Purged) all() int64 { return p.Removed + p.Delayed + p.Parked }

// PurgeQueue removes up to limit messages of a queue for good, those in flight among them, then what is delayed or parked. confirm must
// repeat the queue's name: [nexus.CodeNotConfirmed]. limit is 1 to 1,000,000. Their events stay in the log, and no dead letters are
// made. On a dead-letter queue it removes copies only. It needs the duty to operate.
func PurgeQueue(ctx context.Context, q nexus.DBTX, queue, confirm string, limit int) (Purged, error) {
	var p Purged
	err := db.Call(ctx, q, "purge_queue", "select removed, in_flight, delayed, parked from core.purge_queue($1::text, $2::text, $3::int)",
		[]any{queue, confirm, limit}, &p.Removed, &p.InFlight, &p.Delayed, &p.Parked)
	return p, err
}

// purgeBatch messages are removed in one transaction.
const purgeBatch = 10_000

// PurgeQueueAll is [PurgeQueue] in batches of 10,000 until the queue is empty. On a pool each batch commits by itself: stopped or killed
// half way, what was removed stays removed, and is returned beside the error. each, if not nil, hears the total after every batch
// but the last.
func PurgeQueueAll(ctx context.Context, q nexus.DBTX, queue, confirm string, each func(Purged)) (total Purged, err error) {
	for {
		p, err := PurgeQueue(ctx, q, queue, confirm, purgeBatch)
		if err != nil {
			return total, err
		}
		total.Removed += p.Removed
		total.InFlight += p.InFlight
		total.Delayed += p.Delayed
		total.Parked += p.Parked
		if p.all() < purgeBatch {
			return total, nil
		}
		if each != nil {
			each(total)
		}
	}
}
