package db

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/nexuspg/nexus"
)

// Options gathers the keys of an options argument. Zero values are left out: they mean "not given".
type Options struct {
	op   string
	at   string
	keys map[string]any
	err  error
}

// NewOptions begins the options of one call of op. In errors, at follows the name of an option: "[3]" for the third event of a
// batch, as SQL counts, else nothing.
func NewOptions(op, at string) *Options { return &Options{op: op, at: at, keys: map[string]any{}} }

// Text adds a string.
func (o *Options) Text(key, value string) {
	if value == "" {
		return
	}
	o.check(key, value)
	o.keys[key] = value
}

// Texts adds an array of strings.
func (o *Options) Texts(key string, values []string) {
	if len(values) == 0 {
		return
	}
	o.check(key, values...)
	o.keys[key] = values
}

// Map adds an object of strings.
func (o *Options) Map(key string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	for k, v := range values {
		o.check(key, k, v)
	}
	o.keys[key] = values
}

// Number adds an integer.
func (o *Options) Number(key string, value int64) {
	if value != 0 {
		o.keys[key] = value
	}
}

// Float adds a number.
func (o *Options) Float(key string, value float64) {
	switch {
	case math.IsNaN(value) || math.IsInf(value, 0):
		o.fail(&nexus.Error{
			Op: o.op, Code: nexus.CodeOptionValue, Message: fmt.Sprintf("%s is %v", key, value), Field: key, Hint: "give a number",
		})
	case value != 0:
		o.keys[key] = value
	}
}

// Flag adds true.
func (o *Options) Flag(key string, value bool) {
	if value {
		o.keys[key] = true
	}
}

// Null adds a key whose value is null: it takes its default again.
func (o *Options) Null(key string) {
	o.check(key, key)
	o.keys[key] = nil
}

// Duration adds an interval.
func (o *Options) Duration(key string, value time.Duration) {
	if value != 0 {
		o.keys[key] = Interval(value)
	}
}

// Time adds a point in time.
func (o *Options) Time(key string, value time.Time) {
	if !value.IsZero() {
		o.keys[key] = Time(value)
	}
}

// Retry adds a retry policy.
func (o *Options) Retry(key string, p nexus.RetryPolicy) {
	switch policy, err := Policy(o.op, p); {
	case err != nil:
		o.fail(err)
	case policy != nil:
		o.keys[key] = policy
	}
}

// JSON adds a document, by the rules of [Payload]; nil is left out.
func (o *Options) JSON(key string, value json.RawMessage) {
	if value == nil {
		return
	}
	text, err := Payload(o.op, key+o.at, value)
	if err != nil {
		o.fail(err)
		return
	}
	o.keys[key] = json.RawMessage(text)
}

// IDs adds an array of numbers. An empty one is given, unlike nil: who picks none does not mean all.
func (o *Options) IDs(key string, ids []int64) {
	if ids != nil {
		o.keys[key] = ids
	}
}

// Switch adds a boolean that may also be left open: "on", "off", or "" for not given. Other text goes to SQL to be refused.
func (o *Options) Switch(key, value string) {
	switch value {
	case "on", "off":
		o.keys[key] = value == "on"
	default:
		o.Text(key, value)
	}
}

// Encode returns the JSON text, "{}" if nothing was given, or the first fault.
func (o *Options) Encode() (string, error) {
	if o.err != nil {
		return "", o.err
	}
	text, err := json.Marshal(o.keys)
	if err != nil {
		return "", fmt.Errorf("%s: encode options: %w", o.op, err)
	}
	return string(text), nil
}

// check refuses text that JSON or Postgres would not keep as it is: encoding/json replaces broken UTF-8 without a word, so
// that two keys could become one.
func (o *Options) check(key string, values ...string) {
	for _, v := range values {
		what := unkept(v)
		if what == "" {
			continue
		}
		key += o.at
		o.fail(&nexus.Error{
			Op: o.op, Code: nexus.CodeOptionValue, Message: fmt.Sprintf("%s %s: %q", key, what, clip(v)), Field: key,
			Hint: textHint,
		})
		return
	}
}

func (o *Options) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}
