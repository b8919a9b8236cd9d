package operate

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/readmodel"
)

// DeliveryStatus is what became of an event for one consumer.
type DeliveryStatus struct {
	Consumer     string    `json:"consumer"`
	State        State     `json:"state"`
	Queue        string    `json:"queue_name"`
	MessageID    int64     `json:"msg_id"`         // 0 where it is not known
	Attempt      int       `json:"attempt"`        // of the delivery, or at which it was given up; 0 where it is not known
	DueAt        time.Time `json:"due_at"`         // when it may be claimed, or its lease ends; zero for what does not wait
	DeadLetterID int64     `json:"dead_letter_id"` // 0: there is none
	Detail       string    `json:"detail"`         // why, or by whom
}

// EventStatus says what became of an event, for each consumer that it matches. Nothing is returned of an event that is not there or that
// the caller may not see, and of one that no consumer takes. Of a long queue the first 10,000 messages are looked through, and the
// state is [Unknown] beyond them; thorough reads it whole. It needs the duty to read.
func EventStatus(ctx context.Context, q nexus.DBTX, eventID int64, thorough bool) ([]DeliveryStatus, error) {
	var status []DeliveryStatus
	err := rows(ctx, q, "event_status", "select consumer, state, queue_name, msg_id, attempt, "+finite("due_at")+", dead_letter_id, detail from ("+readmodel.EventStatus+") r",
		&status, eventID, thorough)
	return status, err
}

// FindEvent returns the id of an event, 0 if there is none with that UID. The log has no index by UID, so it is looked for in the last day
// (around zero), or in the hour before and after a time. It needs the duty to read.
func FindEvent(ctx context.Context, q nexus.DBTX, uid uuid.UUID, around time.Time) (id int64, err error) {
	var near any
	if !around.IsZero() {
		near = db.Time(around)
	}
	err = db.Call(ctx, q, "find_event", "select coalesce(core.find_event($1::text::uuid, $2::text::timestamptz), 0)", []any{uid.String(), near}, &id)
	return id, err
}
