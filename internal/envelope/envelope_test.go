package envelope

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
)

func TestDecodeEvent(t *testing.T) {
	const uid = "0192d5b7-7d2f-7000-8000-000000000001"
	at := time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)
	for name, c := range map[string]struct {
		message string
		want    nexus.Event
	}{
		"all fields": {
			`{"namespace": "shop", "eventType": "a.b", "payload": {"n": 12345678901234567890.10}, "emittedAt": "2026-01-02T03:04:05.678901+00:00",
			"authoredAt": "2026-01-02T05:04:05.678901+02:00", "producerNodeId": "p", "eventId": 9007199254740993, "eventUid": "` + uid + `",
			"causationUid": "` + uid + `", "scheduledTaskId": "` + uid + `", "slot": "2026-01-02T03:04:05.678901Z", "correlationId": "c", "depth": 3,
			"orderingKey": "k", "tags": ["x", "y"], "broadcast": true, "replay": "r", "unheardOf": 1}`,
			nexus.Event{
				ID: 9007199254740993, UID: uuid.MustParse(uid), Namespace: "shop", Type: "a.b", Payload: json.RawMessage(`{"n": 12345678901234567890.10}`),
				EmittedAt: at, AuthoredAt: at, ProducerNodeID: "p", ScheduledTaskID: uuid.MustParse(uid), Slot: at, CorrelationID: "c",
				CausationUID: uuid.MustParse(uid), Depth: 3, OrderingKey: "k", Tags: []string{"x", "y"}, Broadcast: true, Replay: "r",
			},
		},
		"least":             {`{"eventType": "a"}`, nexus.Event{Type: "a", Payload: json.RawMessage(`null`)}},
		"null payload":      {`{"eventType": "a", "payload": null}`, nexus.Event{Type: "a", Payload: json.RawMessage(`null`)}},
		"misfits are unset": {`{"eventType": "a", "payload": 1, "eventId": "x", "tags": 7, "depth": 2}`, nexus.Event{Type: "a", Payload: json.RawMessage(`1`), Depth: 2}},
		"no object":         {`[1, 2]`, nexus.Event{Type: RawType, Payload: json.RawMessage(`[1, 2]`)}},
		"no type":           {`{"payload": 1}`, nexus.Event{Type: RawType, Payload: json.RawMessage(`{"payload": 1}`)}},
		"type of no string": {`{"eventType": 7}`, nexus.Event{Type: RawType, Payload: json.RawMessage(`{"eventType": 7}`)}},
		"type is malformed": {`{"eventType": ".a"}`, nexus.Event{Type: RawType, Payload: json.RawMessage(`{"eventType": ".a"}`)}},
		"quotes and braces": {`{"eventType": "a", "correlationId": "q\"}\\", "payload": {"t": "}, \"eventType\": \"b\"", "l": [[], {}]}, "depth": 1}`,
			nexus.Event{Type: "a", CorrelationID: `q"}\`, Payload: json.RawMessage(`{"t": "}, \"eventType\": \"b\"", "l": [[], {}]}`), Depth: 1}},
		"compact":      {`{"eventType":"a","payload":[1],"depth":1}`, nexus.Event{Type: "a", Payload: json.RawMessage(`[1]`), Depth: 1}},
		"empty object": {`{}`, nexus.Event{Type: RawType, Payload: json.RawMessage(`{}`)}},
		"another case": {`{"EVENTTYPE": "a"}`, nexus.Event{Type: RawType, Payload: json.RawMessage(`{"EVENTTYPE": "a"}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			var got nexus.Event
			Decode([]byte(c.message), &got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeHeaders(t *testing.T) {
	user, deferrals, alone, due := Headers([]byte(`{"traceparent": "00-a", "n": 7, "nexus-deferrals": 2, "nexus-alone": 4, "nexus-due": "2026-01-01T00:00:00Z"}`))
	if diff := cmp.Diff(map[string]string{"traceparent": "00-a", "n": "7"}, user); diff != "" || deferrals != 2 || alone != 4 || !due.Equal(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("deferrals %d, due %s, user's headers:\n%s", deferrals, due, diff)
	}
	for _, raw := range []string{``, `null`, `[1]`, `{"nexus-deferrals": "x"}`, `{"nexus-deferrals": -1}`, `{"nexus-failures": 3, "nexus-due": "soon"}`} {
		if user, deferrals, alone, due := Headers([]byte(raw)); user != nil || deferrals != 0 || alone != 0 || !due.IsZero() {
			t.Errorf("%s: %v, %d", raw, user, deferrals)
		}
	}
}

func TestValidType(t *testing.T) {
	for s, want := range map[string]bool{
		"a": true, "9:x/y-z_.": true, "": false, ".a": false, "a b": false, "a*": false, "ä": false, "a\n": false,
		strings.Repeat("a", 200): true, strings.Repeat("a", 201): false,
	} {
		if got := validType(s); got != want {
			t.Errorf("validType(%.20q) = %v", s, got)
		}
	}
}

// Whatever jsonb holds, the members are those that encoding/json finds; and no text makes it fail.
func FuzzFields(f *testing.F) {
	for _, s := range []string{`{"a": 1, "b": {"c": [1, "x\"}"]}, "d": "\\"}`, `{}`, `{"a":`, `{"a`, `[`, ` { "a" : null , "b" : -1.5e3 } `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := map[string]string{}
		for k, v := range fields(text) {
			var key string
			if json.Unmarshal(append(append([]byte{'"'}, k...), '"'), &key) == nil {
				got[key] = string(v)
			}
		}
		var want map[string]json.RawMessage
		if !json.Valid(text) || json.Unmarshal(text, &want) != nil {
			return
		}
		for k, v := range want {
			if got[k] != string(v) {
				t.Errorf("member %q is %q, want %q", k, got[k], v)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d members, want %d", len(got), len(want))
		}
	})
}

func BenchmarkDecodeEvent(b *testing.B) {
	message := []byte(`{"payload": {"id": 123456, "name": "a name of some length", "amount": 12.5, "note": "some two or three hundred bytes"}, "eventId": 1234567,
 "eventUid": "0192d5b7-7d2f-7000-8000-000000000001", "emittedAt": "2026-01-02T03:04:05.678901+00:00", "eventType": "order.placed", "namespace": "bench", "producerNodeId": "n"}`)
	b.ReportAllocs()
	for b.Loop() {
		var e nexus.Event
		Decode(message, &e)
	}
}
