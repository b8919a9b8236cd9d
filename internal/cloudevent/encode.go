// Package cloudevent turns events into CloudEvents 1.0, and CloudEvents into events to emit. docs/guides/webhooks.md is the mapping.
package cloudevent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
)

// ContentType is that of one event in structured mode.
const ContentType = event.ApplicationCloudEventsJSON

// Source is what the events of a namespace come from, unless something else is said.
func Source(ns nexus.Namespace) string { return "nexus:" + string(ns) }

// Encode returns an event as JSON in structured mode. The payload's numbers keep their digits. source is a URI reference; "": that of the namespace.
func Encode(e *nexus.Event, source string) ([]byte, error) {
	if source == "" {
		source = Source(e.Namespace)
	}
	ce := event.New(event.CloudEventsVersionV1)
	ce.SetID(ID(e))
	ce.SetSource(source)
	ce.SetType(e.Type)
	if at := cmp.Or(e.AuthoredAt, e.EmittedAt); !at.IsZero() { // of what was put on the queue by hand nothing is known
		ce.SetTime(at)
	}
	ce.SetDataContentType(event.ApplicationJSON)
	ce.DataEncoded = e.Payload
	if len(e.Payload) == 0 {
		ce.DataEncoded = []byte("null")
	}
	for name, value := range map[string]string{
		"correlationid": e.CorrelationID,
		"causationid":   uid(e.CausationUID),
		"partitionkey":  e.OrderingKey,
		"traceparent":   e.Headers["traceparent"],
		"tracestate":    e.Headers["tracestate"],
		"nexustags":     list(e.Tags),
	} {
		if value != "" {
			ce.SetExtension(name, value)
		}
	}
	if err := ce.Validate(); err != nil {
		return nil, fmt.Errorf("no CloudEvent can be made of event %d: %w", e.ID, err)
	}
	return json.Marshal(ce)
}

// ID is the same on every attempt and replay. What was put on the queue by hand has no uid.
func ID(e *nexus.Event) string {
	if e.UID == uuid.Nil {
		return strconv.FormatInt(e.ID, 10)
	}
	return e.UID.String()
}

func uid(u uuid.UUID) string {
	if u == uuid.Nil {
		return ""
	}
	return u.String()
}

// list is JSON, since an attribute is no array.
func list(tags []string) string {
	if len(tags) == 0 {
		return ""
	}
	text, err := json.Marshal(tags)
	if err != nil {
		return ""
	}
	return string(text)
}
