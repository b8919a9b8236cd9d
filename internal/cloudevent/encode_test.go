package cloudevent_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/cloudevent"
)

func TestEncode(t *testing.T) {
	t.Parallel()
	e := &nexus.Event{
		ID: 7, UID: uuid.MustParse("0199d0a4-0000-7000-8000-000000000001"), Namespace: "shop", Type: "order.placed",
		Payload:   json.RawMessage(`{"id": 12345678901234567890123, "sum": 1.10, "html": "<b>&"}`),
		EmittedAt: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), CorrelationID: "c", OrderingKey: "ann",
		Headers: map[string]string{"traceparent": "00-1", "x": "1"}, Tags: []string{"a,b", "c\r\nX-Evil: 1"},
	}
	got, err := cloudevent.Encode(e, "")
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(got, &fields); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"specversion": `"1.0"`, "id": `"0199d0a4-0000-7000-8000-000000000001"`, "source": `"nexus:shop"`, "type": `"order.placed"`,
		"time": `"2026-01-02T03:04:05.000006Z"`, "datacontenttype": `"application/json"`,
		"data":          `{"id":12345678901234567890123,"sum":1.10,"html":"\u003cb\u003e\u0026"}`,
		"correlationid": `"c"`, "partitionkey": `"ann"`, "traceparent": `"00-1"`, "nexustags": `"[\"a,b\",\"c\\r\\nX-Evil: 1\"]"`,
	}
	shown := map[string]string{}
	for k, v := range fields {
		shown[k] = string(v)
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Error(diff)
	}
}

// Whatever a payload is, it arrives as it is.
// holds: others-payloads (webhooks)
func TestEncodeKeepsThePayload(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{`null`, `1`, `"text"`, `[]`, `{}`, `1e308`, strings.Repeat("[", 900) + strings.Repeat("]", 900)} {
		got, err := cloudevent.Encode(&nexus.Event{ID: 1, Namespace: "shop", Type: "t", Payload: json.RawMessage(payload), EmittedAt: time.Now()}, "https://shop.example/orders")
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(got, &fields); err != nil {
			t.Fatal(err)
		}
		if string(fields["data"]) != payload || string(fields["source"]) != `"https://shop.example/orders"` || string(fields["id"]) != `"1"` {
			t.Errorf("%s", got)
		}
	}
	if _, err := cloudevent.Encode(&nexus.Event{Namespace: "shop", Payload: json.RawMessage(`{}`), EmittedAt: time.Now()}, ""); err == nil {
		t.Error("an event without a type was taken")
	}
}
