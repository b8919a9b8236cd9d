package nexustest

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
)

// Events are those of the namespace's log whose type matches pattern ("order.placed", "order.*", "*"), oldest first.
func (e *Env) Events(pattern string) []nexus.Event {
	e.t.Helper()
	// NULL becomes the zero value of its Go type, which is what "not set" is in an Event.
	rows, err := e.db.Owner.Query(e.t.Context(), `
select event_id, event_uid, event_type, payload, emitted_at, coalesce(producer_node_id, ''), coalesce(correlation_id, ''),
       coalesce(causation_uid, $3), coalesce(scheduled_task_id, $3), depth, coalesce(ordering_key, ''), tags, headers,
       coalesce(authored_at, $4), coalesce(slot, $4), coalesce(priority, 0)
  from core.event_log
 where namespace = $1 and core_private.matches($2, event_type)
 order by emitted_at, event_id`, string(e.Namespace), pattern, uuid.Nil, time.Time{})
	if err != nil {
		e.t.Fatalf("events: %v", err)
	}
	events, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (v nexus.Event, err error) {
		v.Namespace = e.Namespace
		err = row.Scan(&v.ID, &v.UID, &v.Type, &v.Payload, &v.EmittedAt, &v.ProducerNodeID, &v.CorrelationID, &v.CausationUID,
			&v.ScheduledTaskID, &v.Depth, &v.OrderingKey, &v.Tags, &v.Headers, &v.AuthoredAt, &v.Slot, &v.Priority)
		return v, err
	})
	if err != nil {
		e.t.Fatalf("events: %v", err)
	}
	return events
}

// Payloads decodes those of the events of type t, oldest first. The numbers and names of T are checked as in a handler.
func Payloads[T any](e *Env, t nexus.EventType[T]) []T {
	e.t.Helper()
	var all []T
	for _, event := range e.Events(string(t)) {
		var one T
		d := nexus.Delivery{Event: event}
		if err := d.Decode(&one); err != nil {
			e.t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// DeadLetter is one that nobody has replayed or resolved.
type DeadLetter struct {
	ID        int64
	Consumer  string // "" if it does not come from a consumer
	Type      string
	Reason    string
	LastError string
	Attempts  int
	Payload   json.RawMessage
}

// DeadLetters are the unresolved ones of the namespace, oldest first.
func (e *Env) DeadLetters() []DeadLetter {
	e.t.Helper()
	rows, err := e.db.Owner.Query(e.t.Context(), `
select dead_letter_id, coalesce(consumer, ''), coalesce(event_type, ''), reason, coalesce(last_error, ''), attempts, payload
  from core.unresolved_dead_letters where namespace = $1 order by dead_letter_id`, string(e.Namespace))
	if err != nil {
		e.t.Fatalf("dead letters: %v", err)
	}
	letters, err := pgx.CollectRows(rows, pgx.RowToStructByPos[DeadLetter])
	if err != nil {
		e.t.Fatalf("dead letters: %v", err)
	}
	return letters
}
