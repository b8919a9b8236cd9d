package schedule

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// EventOptions are the options of core.schedule_event. Zero values mean "not given".
type EventOptions struct {
	ID            uuid.UUID // zero: a new one; given: the same content again changes nothing, other content is [nexus.ErrConflict]
	Tags          []string
	Headers       map[string]string // names that begin with "nexus-" are refused
	OrderingKey   string            // picks the lane in ordered consumers
	CorrelationID string            // default: that of the delivery in the context, or else its UID
	CausationUID  uuid.UUID         // default: the UID of the delivery in the context
	AuthoredAt    time.Time         // when it happened; default: when it was scheduled
	Producer      string            // recorded with the event as the node that produced it
	Priority      int               // 1 (first) to 4 (last), for consumers with levels; 0: 1
	Broadcast     bool              // to each node of the namespace as well, those there are then
}

// Outcome says what became of a scheduled event. Of the three answers to a call that comes too late or twice none is an error.
type Outcome string

// The answers. To change an event that has failed, replay its dead letter: it answers [NotFound].
const (
	Cancelled       Outcome = "cancelled"
	Rescheduled     Outcome = "rescheduled"
	AlreadyAppended Outcome = "already_appended" // it was emitted; its row in core.scheduled_events has the event_id
	NotFound        Outcome = "not_found"        // there is none, or it was cancelled before, or it has failed
)

// ScheduleEvent emits an event once, not before at, and returns the UID that the event will have. A time that has passed means
// at once. opts may be nil.
//
// Whatever core.emit would refuse then is refused now. A payload that could not be kept exactly is refused before q is asked.
func ScheduleEvent(
	ctx context.Context, q nexus.DBTX, ns nexus.Namespace, eventType string, payload any, at time.Time, opts *EventOptions,
) (id uuid.UUID, err error) {
	const op = "schedule_event"
	body, err := db.Payload(op, "p_payload", payload)
	if err != nil {
		return id, err
	}
	if opts == nil {
		opts = &EventOptions{}
	}
	o := db.NewOptions(op, "")
	if opts.ID != uuid.Nil {
		o.Text("schedule_id", opts.ID.String())
	}
	o.Texts("tags", opts.Tags)
	o.Map("headers", opts.Headers)
	o.Text("ordering_key", opts.OrderingKey)
	o.Chain(ctx, opts.CorrelationID, opts.CausationUID)
	o.Time("authored_at", opts.AuthoredAt)
	o.Text("producer", opts.Producer)
	o.Flag("broadcast", opts.Broadcast)
	o.Number("priority", int64(opts.Priority))
	options, err := o.Encode()
	if err != nil {
		return id, err
	}
	when, err := fireTime(op, at)
	if err != nil {
		return id, err
	}
	err = db.Call(ctx, q, op, `select core.schedule_event($1::text, $2::text, $3::text::jsonb, $4::text::timestamptz, $5::text::jsonb)`,
		[]any{string(ns), eventType, body, when, options}, &id)
	return id, err
}

// ScheduleEventT is [ScheduleEvent] with a payload that the compiler checks.
func ScheduleEventT[T any](
	ctx context.Context, q nexus.DBTX, ns nexus.Namespace, t nexus.EventType[T], payload T, at time.Time, opts *EventOptions,
) (uuid.UUID, error) {
	return ScheduleEvent(ctx, q, ns, string(t), payload, at, opts)
}

// RescheduleEvent moves a pending event to another time and answers [Rescheduled], [AlreadyAppended] or [NotFound].
func RescheduleEvent(ctx context.Context, q nexus.DBTX, id uuid.UUID, at time.Time) (Outcome, error) {
	const op = "reschedule_event"
	when, err := fireTime(op, at)
	if err != nil {
		return "", err
	}
	return outcome(ctx, q, op, "core.reschedule_event($1::text::uuid, $2::text::timestamptz, false)", id.String(), when)
}

// CancelScheduledEvent takes an event back, if q's transaction commits, and answers [Cancelled], [AlreadyAppended] or [NotFound].
//
// It waits for a transaction that is firing the event. In REPEATABLE READ and above that wait can end in [nexus.ErrRestartTx].
func CancelScheduledEvent(ctx context.Context, q nexus.DBTX, id uuid.UUID) (Outcome, error) {
	return outcome(ctx, q, "cancel_scheduled_event", "core.cancel_scheduled_event($1::text::uuid)", id.String())
}

func outcome(ctx context.Context, q nexus.DBTX, op, call string, args ...any) (Outcome, error) {
	var answer string
	if err := db.Call(ctx, q, op, "select "+call, args, &answer); err != nil {
		return "", err
	}
	return Outcome(answer), nil
}

// fireTime refuses the zero time, which is a field that nobody set rather than the year 1.
func fireTime(op string, at time.Time) (string, error) {
	if at.IsZero() {
		return "", &nexus.Error{
			Op: op, Code: nexus.CodeArgumentValue, Message: "p_at is the zero time", Field: "p_at",
			Hint: "give the time at which the event is to be emitted",
		}
	}
	return db.Time(at), nil
}
