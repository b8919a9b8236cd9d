// holds: E3

package db_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

type (
	raw  = json.RawMessage
	part struct {
		Name  string
		Tags  []string       `json:"tags"`
		Extra map[string]any `json:"extra,omitempty"`
	}
	cyclic struct{ Next *cyclic }
)

func TestPayloadIsWritten(t *testing.T) {
	for name, test := range map[string]struct {
		payload any
		want    string
	}{
		"nothing":                      {nil, `{}`},
		"a nil raw message":            {raw(nil), `{}`},
		"a nil pointer":                {(*part)(nil), `null`},
		"raw as it is":                 {raw(` {"b":1.50,"a":9007199254740993} `), ` {"b":1.50,"a":9007199254740993} `},
		"a struct":                     {part{Name: "n", Tags: []string{"t"}}, `{"Name":"n","tags":["t"]}`},
		"a scalar":                     {raw(`1`), `1`},
		"bytes are base64":             {[]byte{0, 255}, `"AP8="`},
		"a replacement character":      {part{Name: "\ufffd"}, "{\"Name\":\"\ufffd\",\"tags\":null}"},
		"one that was escaped already": {map[string]any{"raw": raw(`"\ufffd"`)}, `{"raw":"\ufffd"}`},
		"a surrogate pair":             {raw(`"\ud83d\ude00"`), `"\ud83d\ude00"`},
		"an escaped backslash":         {raw(`"\\u0000"`), `"\\u0000"`},
		"the largest floats":           {[]float64{math.MaxFloat64, -math.MaxFloat64}, `[1.7976931348623157e+308,-1.7976931348623157e+308]`},
		"the finest number":            {raw(`1e-16383`), `1e-16383`},
		"1,000 levels":                 {raw(nested(1000)), nested(1000)},
		"brackets in strings":          {raw(`"` + strings.Repeat("[", 2000) + `"`), `"` + strings.Repeat("[", 2000) + `"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := db.Payload("emit", "payload", test.payload)
			if err != nil || got != test.want {
				t.Errorf("got %s, %v; want %s", got, err, test.want)
			}
		})
	}
}

// holds: others-payloads
func TestPayloadIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		payload any
		want    string // in the message
	}{
		"NUL in Go":                {part{Tags: []string{"a", "b\x00"}}, `a NUL character at $.tags[1]`},
		"NUL escaped":              {raw(`{"a":{"b c":[1,{"d":"x\u0000"}]}}`), `a NUL character at $.a["b c"][1].d`},
		"NUL in a key":             {raw(`{"a":[{}],"b":{"\u0000":1}}`), `a NUL character at $.b["\x00"]`},
		"NUL after an escape":      {raw(`"\\\u0000"`), `a NUL character at $`},
		"NUL after a nested value": {raw(`[[1,[2]],{"a":{}},"\u0000"]`), `a NUL character at $[2]`},
		"a high surrogate":         {raw(`["\ud83d"]`), `half a surrogate pair at $[0]`},
		"a low surrogate":          {raw(`["\ude00"]`), `half a surrogate pair at $[0]`},
		"two high surrogates":      {raw(`["\ud83d\ud83d"]`), `half a surrogate pair at $[0]`},
		"too large":                {raw(`{"a":1.8e308}`), `a number beyond 1e308 (1.8e308) at $.a`},
		"much too large":           {raw(`-1e400`), `beyond 1e308`},
		"too many digits":          {raw(strings.Repeat("9", 400)), `beyond 1e308`},
		"too fine":                 {raw(`1e-16384`), `16383 decimal places`},
		"too fine by its digits":   {raw(`0.` + strings.Repeat("1", 16384)), `16383 decimal places`},
		"an endless exponent":      {raw(`0e99999999999`), `exponent`},
		"just too large":           {raw(`-1.7976931348623158e308`), `beyond 1e308`},
		"NaN":                      {math.NaN(), `NaN`},
		"infinity":                 {math.Inf(1), `+Inf`},
		"a channel":                {make(chan int), `chan int`},
		"a cycle":                  {cycle(), `cycle`},
		"1,001 levels":             {raw(nested(1001)), `more than 1000 levels`},
		"20,000 levels":            {raw(nested(20000)), `more than 1000 levels`},
		"raw that is not UTF-8":    {raw("\"\xff\""), `not valid UTF-8`},
		"text that is not UTF-8":   {part{Extra: map[string]any{"k": []string{"\xff"}}}, `not valid UTF-8 at $.extra.k[0]`},
		"a key that is not UTF-8":  {map[string]int{"a\xff": 1}, `not valid UTF-8`},
		"no JSON":                  {raw(`{"a":}`), `not valid JSON`},
		"two values":               {raw(`{} {}`), `not valid JSON`},
		"nothing but raw":          {raw(``), `not valid JSON`},
		"an open string":           {raw(`"\u00`), `not valid JSON`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := db.Payload("emit", "payload", test.payload)
			e, ok := errors.AsType[*nexus.Error](err)
			if !ok {
				t.Fatalf("passed as %.100s", got)
			}
			if !strings.Contains(e.Message, test.want) || e.Code != nexus.CodePayload || e.Field != "payload" || e.Op != "emit" {
				t.Errorf("got %+v; want a message with %q", e, test.want)
			}
			if len(e.Message) > 600 {
				t.Errorf("a message of %d bytes", len(e.Message))
			}
		})
	}
}

func nested(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

func cycle() *cyclic {
	c := &cyclic{}
	c.Next = c
	return c
}
