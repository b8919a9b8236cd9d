// Package envelope reads the form that an event has on a queue, and among the broadcasts.
package envelope

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
)

// MaxLevels is how many priorities there are.
const MaxLevels = 4

// RawType is the event type of a message that is no envelope.
const RawType = "unknown.raw"

const (
	headerDeferrals = "nexus-deferrals" // counts the releases of a message
	headerAlone     = "nexus-alone"     // the read_ct of a claim that took it alone
	headerDue       = "nexus-due"       // when a retry, a release or a delay was due
)

// headerRetry is the policy of a delivery that a trigger made.
const headerRetry = "nexus-retry"

// MaxAttempts is what the policy says that a delivery carries; 0: it carries none, or none that can be.
func MaxAttempts(headers []byte) int {
	if !bytes.Contains(headers, []byte(headerRetry)) {
		return 0
	}
	var h struct {
		Retry struct {
			MaxAttempts int `json:"max_attempts"`
		} `json:"nexus-retry"`
	}
	if json.Unmarshal(headers, &h) != nil || h.Retry.MaxAttempts < -1 {
		return 0
	}
	return h.Retry.MaxAttempts
}

// reserved begins the headers that are Nexus's own; handlers do not see them.
const reserved = "nexus-"

// Decode reads a message. Anyone may send to a pgmq queue, so nothing about it is taken for granted: what is no envelope
// arrives whole as RawType, and a field of the wrong kind in an envelope is left unset rather than failing the delivery.
//
// It is the one thing done in Go for each event, so it goes over the text once and leaves the payload where it is. The text is
// jsonb's: valid, and without a key twice.
//
// A message that names its handler has the handler's key for a type, and the event's own beside it: target is that key, and e has its own type.
func Decode(message []byte, e *nexus.Event) (target string) {
	*e = nexus.Event{}
	var source string
	for key, value := range fields(message) {
		switch string(key) {
		case "namespace":
			setText((*string)(&e.Namespace), value)
		case "eventType":
			setText(&e.Type, value)
		case "payload":
			e.Payload = value
		case "emittedAt":
			setTime(&e.EmittedAt, value)
		case "producerNodeId":
			setText(&e.ProducerNodeID, value)
		case "eventId":
			if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
				e.ID = n
			}
		case "eventUid":
			setUUID(&e.UID, value)
		case "authoredAt":
			setTime(&e.AuthoredAt, value)
		case "correlationId":
			setText(&e.CorrelationID, value)
		case "causationUid":
			setUUID(&e.CausationUID, value)
		case "depth":
			if n, err := strconv.Atoi(string(value)); err == nil {
				e.Depth = n
			}
		case "orderingKey":
			setText(&e.OrderingKey, value)
		case "tags":
			var tags []string
			if json.Unmarshal(value, &tags) == nil {
				e.Tags = tags
			}
		case "broadcast":
			e.Broadcast = string(value) == "true"
		case "priority":
			if n, err := strconv.Atoi(string(value)); err == nil && n > 1 && n <= MaxLevels {
				e.Priority = n
			}
		case "replay":
			setText(&e.Replay, value)
		case "scheduledTaskId":
			setUUID(&e.ScheduledTaskID, value)
		case "slot":
			setTime(&e.Slot, value)
		case "sourceType":
			setText(&source, value)
		case "trigger":
			setText(&e.Trigger, value)
		case "triggerId":
			setUUID(&e.TriggerID, value)
		}
	}
	if !validType(e.Type) {
		*e = nexus.Event{Type: RawType, Payload: message}
		return ""
	}
	if e.Payload == nil {
		e.Payload = json.RawMessage("null")
	}
	if source != "" && isTarget(e.Type) && validType(source) {
		target, e.Type = e.Type, source
	}
	return target
}

// ReplyTo is the request that a message carries to its handler; none if it is none.
func ReplyTo(message []byte) (id uuid.UUID) {
	for key, value := range fields(message) {
		if string(key) == "replyTo" {
			setUUID(&id, value)
		}
	}
	return id
}

// isTarget is the rule of core_private.target_of.
func isTarget(s string) bool {
	for _, kind := range []string{"go:", "sql:", "webhook:", "workflow:"} {
		if strings.HasPrefix(s, kind) {
			return true
		}
	}
	return false
}

// fields goes over the members of a JSON object: keys as they are written, values as JSON. Of anything else there are none.
func fields(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		i := blank(object, 0)
		if i >= len(object) || object[i] != '{' {
			return
		}
		for i++; ; i++ {
			i = blank(object, i)
			if i >= len(object) || object[i] != '"' {
				return
			}
			end := after(object, i)
			if end-i < 2 {
				return
			}
			key := object[i+1 : end-1]
			i = blank(object, end)
			if i >= len(object) || object[i] != ':' {
				return
			}
			i = blank(object, i+1)
			end = after(object, i)
			if end == i || !yield(key, object[i:end:end]) {
				return
			}
			i = blank(object, end)
			if i >= len(object) || object[i] != ',' {
				return
			}
		}
	}
}

func blank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// after is the position after the value that begins at i; in text that ends too early, the end.
func after(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(b))
			if depth == 0 {
				return i
			}
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i // the end of what the value is in
			}
			depth--
			i++
			if depth == 0 {
				return i
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i // the end of a number, true, false or null
			}
			i++
		default:
			i++
		}
	}
	return i
}

func setText(to *string, value []byte) {
	n := len(value)
	if n < 2 || value[0] != '"' {
		return
	}
	if bytes.IndexByte(value, '\\') < 0 {
		*to = string(value[1 : n-1])
		return
	}
	var s string
	if json.Unmarshal(value, &s) == nil {
		*to = s
	}
}

func setTime(to *time.Time, value []byte) {
	var t time.Time
	if t.UnmarshalJSON(value) == nil {
		*to = t
	}
}

func setUUID(to *uuid.UUID, value []byte) {
	if n := len(value); n == 38 {
		if id, err := uuid.ParseBytes(value[1 : n-1]); err == nil {
			*to = id
		}
	}
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

// Headers splits the headers of a message into the user's, the count of deferrals, the read at which it was claimed alone and the time it was due. Values that are
// no strings came from another pgmq client and are shown as their JSON text.
func Headers(raw []byte) (user map[string]string, deferrals, alone int, due time.Time) {
	if len(raw) == 0 {
		return nil, 0, 0, due
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil, 0, 0, due
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
		case k == headerAlone:
			if n, err := strconv.Atoi(text); err == nil && n > 0 {
				alone = n
			}
		case k == headerDue:
			setTime(&due, v)
		case !strings.HasPrefix(k, reserved):
			if user == nil {
				user = make(map[string]string, len(all))
			}
			user[k] = text
		}
	}
	return user, deferrals, alone, due
}
