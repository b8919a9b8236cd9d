package nexus

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Namespace is the name of a namespace. It has a type of its own so that the compiler tells it from an event type;
// whether it is well formed is judged by SQL.
type Namespace string

// EventType is the name of an event type together with the Go type of its payload, which exists for the compiler only:
//
//	const UserCreated nexus.EventType[User] = "user.created"
//
// Where events are handled it may also be a pattern: "user.*", "user:*" or "*".
type EventType[T any] string

// Event is what was emitted, as the event log and the message on a queue hold it. Zero values mean "not set".
type Event struct {
	ID              int64     // in the event log; 0 for a message that was put on the queue by hand
	UID             uuid.UUID // the same on retries, on replays and in a restored dump
	Namespace       Namespace
	Type            string
	Payload         json.RawMessage // as jsonb stored it: the digits of numbers are all there
	EmittedAt       time.Time       // by the database's clock
	AuthoredAt      time.Time       // what the emitter said, if it did
	ProducerNodeID  string
	ScheduledTaskID uuid.UUID // the recurring task that fired the event
	Slot            time.Time // the slot of that task for which it fired; zero where the task was run by hand, which is for no slot: use EmittedAt then
	CorrelationID   string
	CausationUID    uuid.UUID // UID of the event whose handler emitted this one
	Depth           int       // how many events lie between this one and the start of its chain
	OrderingKey     string
	Tags            []string
	Headers         map[string]string // the emitter's own; those of Nexus are left out
	Broadcast       bool
	Priority        int       // 2 to 4 goes after what has a lower number, in consumers with levels; 0: it was given none, or 1
	Trigger         string    // the name of the trigger that made this delivery; "" for one to a consumer that goes by event types
	TriggerID       uuid.UUID // its id
	Replay          string    // the id of the replay that delivers it again; empty for what was emitted, and for retries of that
}
