package nexus_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
)

func delivery(payload string) *nexus.Delivery {
	return &nexus.Delivery{Event: nexus.Event{Payload: json.RawMessage(payload)}}
}

// holds: others-payloads
func TestDecodeKeepsDigits(t *testing.T) {
	type amounts struct {
		Exact int64
		Any   any
		Map   map[string]any
	}
	const payload = `{"exact":9007199254740993,"any":9007199254740993,"map":{"n":0.10000000000000000001},"unknown":1}`
	var got amounts
	if err := delivery(payload).Decode(&got); err != nil {
		t.Fatal(err)
	}
	want := amounts{
		Exact: 9007199254740993, Any: json.Number("9007199254740993"),
		Map: map[string]any{"n": json.Number("0.10000000000000000001")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, payload := range map[string]string{
		"nothing":            ``,
		"two values":         `{} {}`,
		"a stray bracket":    `{}]`,
		"text after it":      `{} x`,
		"half a value":       `{"a":`,
		"another Go type":    `{"a":"text"}`,
		"an integer too big": `{"a":9223372036854775808}`,
		"a fraction":         `{"a":1.5}`,
	} {
		t.Run(name, func(t *testing.T) {
			var v struct{ A int64 }
			if err := delivery(payload).Decode(&v); err == nil {
				t.Errorf("%s decoded into %+v", payload, v)
			}
		})
	}
	var v any
	if err := delivery(" [1]\n ").Decode(&v); err != nil {
		t.Errorf("space around a value: %v", err)
	}
}

func TestIdempotencyKey(t *testing.T) {
	uid := uuid.MustParse("0190163d-8694-739b-aea5-966c26f8ad90")
	first := &nexus.Delivery{Event: nexus.Event{Namespace: "shop", UID: uid, ID: 1}, Consumer: "mailer", MessageID: 1, Attempt: 1}
	replay := &nexus.Delivery{Event: nexus.Event{Namespace: "shop", UID: uid, ID: 1}, Consumer: "mailer", MessageID: 9, Attempt: 3, Deferrals: 2}
	if got, want := first.IdempotencyKey(), "shop/mailer/"+uid.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if first.IdempotencyKey() != replay.IdempotencyKey() {
		t.Error("a replay has another key")
	}
	other := *first
	other.Consumer = "default"
	if other.IdempotencyKey() == first.IdempotencyKey() {
		t.Error("two consumers share a key")
	}
}

func TestDecodedPayloadHidesTheRawOne(t *testing.T) {
	d := nexus.DeliveryOf[int]{Delivery: delivery("1"), Payload: 1}
	if d.Payload != 1 || string(d.Delivery.Payload) != "1" {
		t.Errorf("decoded %v, raw %s", d.Payload, d.Delivery.Payload)
	}
}

func TestContextCarriesDelivery(t *testing.T) {
	d := delivery("1")
	if got, ok := nexus.DeliveryFrom(nexus.WithDelivery(t.Context(), d)); !ok || got != d {
		t.Errorf("got %v, %v", got, ok)
	}
	if got, ok := nexus.DeliveryFrom(t.Context()); ok {
		t.Errorf("a bare context carries %v", got)
	}
	if got, ok := nexus.DeliveryFrom(nexus.WithDelivery(t.Context(), nil)); ok {
		t.Errorf("a context given nil carries %v", got)
	}
}
