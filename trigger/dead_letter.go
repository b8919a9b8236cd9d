package trigger

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// DeadLetter matches what was given up, whatever it was; empty fields match all. Creating one takes the duty to operate.
//
// Its handler gets a [Buried], and has one attempt. One that fails makes no dead letter of its own: the dead letter says that its handler failed, and stays.
type DeadLetter struct {
	Source  string `json:"source,omitempty"`  // delivery, task, lane, broadcast, …; trigger: a delivery that a trigger had made
	Trigger string `json:"trigger,omitempty"` // the name of the trigger that had made the delivery
	Target  string `json:"target,omitempty"`  // the handler that the delivery named, such as "go:mail"
}

// Buried is the payload of a trigger of dead letters.
type Buried struct {
	DeadLetterID   int64           `json:"dead_letter_id"`
	Source         string          `json:"source"`
	Consumer       string          `json:"consumer"`
	Reason         string          `json:"reason"`
	Attempts       int             `json:"attempts"`
	LastError      string          `json:"last_error"`
	TriggerID      *uuid.UUID      `json:"trigger_id"` // of the trigger that had made the delivery; nil: none had
	Target         string          `json:"target"`
	FirstAttemptAt *time.Time      `json:"first_attempt_at"` // nil: it was never tried
	LastAttemptAt  *time.Time      `json:"last_attempt_at"`
	Original       json.RawMessage `json:"original"` // the event as its handler would have had it, with its payload; body and body_type of what is no JSON
}
