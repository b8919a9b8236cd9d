package db

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/nexuspg/nexus"
)

// Payload turns v into the text of a JSON value: a json.RawMessage as it is, nil as {}, anything else by json.Marshal.
//
// What it lets pass, jsonb takes and gives back with every digit. The rest is refused here with [nexus.CodePayload], before
// it costs a round trip and, on a transaction, the transaction. field names the argument in errors.
func Payload(op, field string, v any) (string, error) {
	raw, isRaw := v.(json.RawMessage)
	switch {
	case v == nil, isRaw && raw == nil:
		return "{}", nil
	case !isRaw:
		var err error
		if raw, err = json.Marshal(v); err != nil {
			return "", refuse(op, field, "cannot be written as JSON: "+err.Error(), err)
		}
	case !utf8.Valid(raw):
		return "", refuse(op, field, "is not valid UTF-8", nil)
	}
	// Before asking encoding/json whether it is valid: that gives up on deep nesting with words that name no limit.
	if f := findFault(raw); f.what != "" {
		return "", refuse(op, field, f.what+" at "+pathAt(raw, f.at), nil)
	}
	if isRaw {
		if err := syntaxError(raw); err != nil {
			return "", refuse(op, field, "is not valid JSON: "+err.Error(), err)
		}
	} else if at := bytes.Index(raw, []byte(`\ufffd`)); at >= 0 && brokenUTF8(reflect.ValueOf(v), 0) {
		return "", refuse(op, field, "holds text that is not valid UTF-8 at "+pathAt(raw, at), nil)
	}
	return string(raw), nil
}

func refuse(op, field, what string, err error) error {
	return &nexus.Error{
		Op: op, Code: nexus.CodePayload, Message: field + " " + what, Field: field,
		Hint: "send a JSON value that Postgres keeps exactly", Err: err,
	}
}

func syntaxError(raw []byte) error {
	if json.Valid(raw) {
		return nil
	}
	var into json.RawMessage
	err := json.Unmarshal(raw, &into)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%w (byte %d)", e, e.Offset)
	}
	return err
}

// clip shortens text for an error message.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
