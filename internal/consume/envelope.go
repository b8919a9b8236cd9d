package consume

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
)

// RawType is the event type of a message that is no envelope.
const RawType = "unknown.raw"

// headerDeferrals counts the releases of a message.
const headerDeferrals = "nexus-deferrals"

// reserved begins the headers that are Nexus's own; handlers do not see them.
const reserved = "nexus-"

// envelope is the message on a queue.
type envelope struct {
	Namespace       string          `json:"namespace"`
	EventType       string          `json:"eventType"`
	Payload         json.RawMessage `json:"payload"`
	EmittedAt       time.Time       `json:"emittedAt"`
	ProducerNodeID  string          `json:"producerNodeId"`
	EventID         int64           `json:"eventId"`
	EventUID        uuid.UUID       `json:"eventUid"`
	AuthoredAt      time.Time       `json:"authoredAt"`
	CorrelationID   string          `json:"correlationId"`
	CausationUID    uuid.UUID       `json:"causationUid"`
	Depth           int             `json:"depth"`
	OrderingKey     string          `json:"orderingKey"`
	Tags            []string        `json:"tags"`
	Broadcast       bool            `json:"broadcast"`
	ScheduledTaskID uuid.UUID       `json:"scheduledTaskId"`
	Slot            time.Time       `json:"slot"`
}

// decodeEvent reads a message. Anyone may send to a pgmq queue, so nothing about it is taken for granted: what is no envelope
// arrives whole as RawType, and a field of the wrong kind in an envelope is left unset rather than failing the delivery.
func decodeEvent(message []byte, e *nexus.Event) {
	var env envelope
	if json.Unmarshal(message, &env) != nil {
		env = lenient(message)
	}
	if !validType(env.EventType) {
		*e = nexus.Event{Type: RawType, Payload: message}
		return
	}
	if env.Payload == nil {
		env.Payload = json.RawMessage("null")
	}
	*e = nexus.Event{
		ID: env.EventID, UID: env.EventUID, Namespace: nexus.Namespace(env.Namespace), Type: env.EventType, Payload: env.Payload,
		EmittedAt: env.EmittedAt, AuthoredAt: env.AuthoredAt, ProducerNodeID: env.ProducerNodeID,
		ScheduledTaskID: env.ScheduledTaskID, Slot: env.Slot, CorrelationID: env.CorrelationID, CausationUID: env.CausationUID,
		Depth: env.Depth, OrderingKey: env.OrderingKey, Tags: env.Tags, Broadcast: env.Broadcast,
	}
}

// lenient reads the fields one by one and drops those that do not fit.
func lenient(message []byte) (env envelope) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(message, &fields) != nil {
		return env
	}
	for name, raw := range fields {
		one, err := json.Marshal(map[string]json.RawMessage{name: raw})
		if err != nil {
			continue
		}
		next := env
		if json.Unmarshal(one, &next) == nil {
			env = next
		}
	}
	return env
}

// validType is the rule of core for event types.
func validType(s string) bool {
	if s == "" || len(s) > 200 || !alphanumeric(s[0]) {
		return false
	}
	for i := 1; i < len(s); i++ {
		if !alphanumeric(s[i]) && strings.IndexByte("._:/-", s[i]) < 0 {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// decodeHeaders splits the headers of a message into the user's and the count of deferrals. Values that are no strings came
// from another pgmq client and are shown as their JSON text.
func decodeHeaders(raw []byte) (user map[string]string, deferrals int) {
	if len(raw) == 0 {
		return nil, 0
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil, 0
	}
	for k, v := range all {
		text := string(v)
		var s string
		if json.Unmarshal(v, &s) == nil && text != "null" {
			text = s
		}
		switch {
		case k == headerDeferrals:
			if n, err := strconv.Atoi(text); err == nil && n > 0 {
				deferrals = n
			}
		case !strings.HasPrefix(k, reserved):
			if user == nil {
				user = make(map[string]string, len(all))
			}
			user[k] = text
		}
	}
	return user, deferrals
}
