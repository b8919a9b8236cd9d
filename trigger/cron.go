package trigger

import "encoding/json"

// Cron has a handler called by a schedule: that of the task of a name, or of one that is made for the trigger and goes with it. Creating one takes the duty to produce
// beside that to consume, or that to operate. What a task that was made emits is in the log, and delivered to the trigger alone; misfires, overlap and the ids of slots are those of package schedule.
type Cron struct {
	Task string `json:"task,omitempty"` // one that is there: consumers get its events as ever, and so does the trigger

	Expression   string          `json:"cron_expression,omitempty"` // five fields, @hourly to @yearly, or "@every 90s"
	Zone         string          `json:"timezone,omitempty"`        // an IANA name; "": UTC
	Payload      json.RawMessage `json:"payload,omitempty"`         // nil: {}
	Misfire      string          `json:"misfire,omitempty"`         // "fire_once", "skip" or "backfill"; "": fire_once
	MisfireAfter string          `json:"misfire_after,omitempty"`   // an interval; "": 2 minutes
	Backfill     int             `json:"backfill,omitempty"`        // most slots caught up; 0: 100
	Overlap      string          `json:"overlap,omitempty"`         // "allow", "skip" or "queue_one"; "": allow, for @every skip
	Jitter       string          `json:"jitter,omitempty"`          // an interval
	StartsAt     string          `json:"starts_at,omitempty"`       // a time with an offset
	EndsAt       string          `json:"ends_at,omitempty"`
}
