package cloudevent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cloudevents/sdk-go/v2/event"
)

// Incoming is a CloudEvent as it is emitted.
type Incoming struct {
	ID, Source    string
	Type          string
	Payload       json.RawMessage
	Time          time.Time
	CorrelationID string
	OrderingKey   string
	Headers       map[string]string // its other attributes
}

// DedupeKey is the same for events of the same source and id, which are one by the specification.
func (in *Incoming) DedupeKey() string {
	sum := sha256.Sum256([]byte(in.Source + "\x00" + in.ID))
	return "ce:" + hex.EncodeToString(sum[:])
}

// ErrType is the error of a content type that no mode has, or of data that is neither JSON nor text.
var ErrType = errors.New("this content type is not taken")

// Decode reads a request's events, in structured, batched or binary mode.
func Decode(h http.Header, body []byte) ([]*Incoming, error) {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	switch {
	case err == nil && kind == event.ApplicationCloudEventsJSON:
		in, err := structured(body)
		if err != nil {
			return nil, err
		}
		return []*Incoming{in}, nil
	case err == nil && kind == event.ApplicationCloudEventsBatchJSON:
		return batched(body)
	case strings.HasPrefix(kind, "application/cloudevents"):
		return nil, fmt.Errorf("%w: give application/cloudevents+json or application/cloudevents-batch+json", ErrType)
	case h.Get("Ce-Specversion") != "":
		in, err := binary(h, body)
		if err != nil {
			return nil, err
		}
		return []*Incoming{in}, nil
	}
	return nil, fmt.Errorf("%w: give application/cloudevents+json, application/cloudevents-batch+json, or the headers of a CloudEvent in binary mode", ErrType)
}

func batched(body []byte) ([]*Incoming, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, errors.New("the body is not a JSON array of CloudEvents")
	}
	all := make([]*Incoming, len(raw))
	for i, one := range raw {
		var err error
		if all[i], err = structured(one); err != nil {
			return nil, fmt.Errorf("event %d of the batch: %w", i+1, err)
		}
	}
	return all, nil
}

// structured reads one event. The SDK takes what is no JSON in places, and an attribute twice, so that is looked at before.
func structured(body []byte) (in *Incoming, err error) {
	if err := once(body); err != nil {
		return nil, err
	}
	defer func() {
		if recover() != nil {
			in, err = nil, errors.New("the body is not a CloudEvent")
		}
	}()
	var e event.Event
	if err := e.UnmarshalJSON(body); err != nil {
		return nil, fmt.Errorf("the body is not a CloudEvent: %w", err)
	}
	return incoming(&e)
}

// once checks that body is an object without a member twice, the strings of which are strings.
func once(body []byte) error {
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') || !json.Valid(body) || !utf8.Valid(body) {
		return errors.New("the body is not a JSON object")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return errors.New("the body is not a JSON object")
		}
		name, _ := t.(string)
		if seen[name] {
			return fmt.Errorf("attribute %.50q is there twice", name)
		}
		seen[name] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return errors.New("the body is not a JSON object")
		}
		switch name {
		case "id", "source", "type", "specversion", "subject", "time", "datacontenttype", "dataschema", "data_base64":
			if value[0] != '"' && (string(value) != "null" || name == "data_base64") {
				return fmt.Errorf("attribute %s is not a string", name)
			}
		}
	}
	if seen["data"] && seen["data_base64"] {
		return errors.New("there is data and data_base64")
	}
	return nil
}

// binary reads the attributes from headers, whose values are percent-encoded where they have to be.
func binary(h http.Header, body []byte) (*Incoming, error) {
	e := event.New(event.CloudEventsVersionV1)
	for name, values := range h {
		attribute, ok := strings.CutPrefix(strings.ToLower(name), "ce-")
		if !ok {
			continue
		}
		if len(values) != 1 {
			return nil, fmt.Errorf("header %s is there twice", name)
		}
		value, err := url.PathUnescape(strings.Trim(values[0], `"`))
		if err != nil || !utf8.ValidString(value) {
			return nil, fmt.Errorf("header %s is not percent-encoded UTF-8", name)
		}
		switch attribute {
		case "specversion":
			if value != event.CloudEventsVersionV1 {
				return nil, errors.New("specversion is not 1.0")
			}
		case "id":
			e.SetID(value)
		case "source":
			e.SetSource(value)
		case "type":
			e.SetType(value)
		case "subject":
			e.SetSubject(value)
		case "dataschema":
			e.SetDataSchema(value)
		case "time":
			at, err := time.Parse(time.RFC3339Nano, value)
			if err != nil {
				return nil, errors.New("time is not one of RFC 3339")
			}
			e.SetTime(at)
		default:
			e.SetExtension(attribute, value)
		}
	}
	if kind := h.Get("Content-Type"); kind != "" {
		e.SetDataContentType(kind)
	}
	if len(body) > 0 {
		e.DataEncoded = body
	}
	return incoming(&e)
}

func incoming(e *event.Event) (*Incoming, error) {
	if e.SpecVersion() != event.CloudEventsVersionV1 {
		return nil, errors.New("specversion is not 1.0")
	}
	if err := e.Validate(); err != nil {
		return nil, errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	in := &Incoming{ID: e.ID(), Source: e.Source(), Type: e.Type(), Time: e.Time(), Headers: map[string]string{}}
	if s := e.Subject(); s != "" {
		in.Headers["ce-subject"] = s
	}
	if s := e.DataSchema(); s != "" {
		in.Headers["ce-dataschema"] = s
	}
	in.Headers["ce-id"], in.Headers["ce-source"] = in.ID, in.Source
	for name, value := range e.Extensions() {
		text := fmt.Sprint(value)
		switch name {
		case "correlationid":
			in.CorrelationID = text
		case "partitionkey":
			in.OrderingKey = text
		case "traceparent", "tracestate":
			in.Headers[name] = text
		default:
			in.Headers["ce-"+name] = text
		}
	}
	var err error
	in.Payload, err = payload(e)
	return in, err
}

// payload is the data: JSON as it is, text as a string of JSON, none as {}.
func payload(e *event.Event) (json.RawMessage, error) {
	data := e.Data()
	kind := e.DataMediaType()
	switch {
	case data == nil:
		return json.RawMessage(`{}`), nil
	case kind == "" || kind == event.ApplicationJSON || kind == "text/json" || strings.HasSuffix(kind, "+json"):
		if !json.Valid(data) {
			return nil, errors.New("the data is not JSON")
		}
		return bytes.Clone(data), nil
	case strings.HasPrefix(kind, "text/") && utf8.Valid(data):
		return json.Marshal(string(data))
	}
	return nil, fmt.Errorf("%w: the data is neither JSON nor text", ErrType)
}
