package db

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/nexuspg/nexus"
)

// Interval writes d as text that Postgres reads as an interval, whatever its IntervalStyle. Postgres counts microseconds;
// what is finer is rounded up, so that nothing falls due too early.
func Interval(d time.Duration) string {
	us := d / time.Microsecond
	if d%time.Microsecond > 0 {
		us++
	}
	sign := ""
	if us < 0 {
		sign, us = "-", -us
	}
	return fmt.Sprintf("%s%d.%06ds", sign, us/1e6, us%1e6)
}

// Time writes t with its offset, in UTC.
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Policy writes p as SQL wants it, leaving out what is inherited; nil if all is.
func Policy(op string, p nexus.RetryPolicy) (json.RawMessage, error) {
	if p == (nexus.RetryPolicy{}) {
		return nil, nil
	}
	m := struct {
		MaxAttempts int         `json:"max_attempts,omitempty"`
		Shape       nexus.Shape `json:"shape,omitempty"`
		Base        string      `json:"base,omitempty"`
		Max         string      `json:"max,omitempty"`
		Jitter      *float64    `json:"jitter,omitempty"`
	}{MaxAttempts: p.MaxAttempts, Shape: p.Shape, Base: optionalInterval(p.Base), Max: optionalInterval(p.Max)}
	switch {
	case math.IsNaN(p.Jitter) || math.IsInf(p.Jitter, 0):
		return nil, &nexus.Error{
			Op: op, Code: nexus.CodeRetryPolicy, Message: fmt.Sprintf("jitter is %v", p.Jitter),
			Field: "jitter", Hint: "give a share from 0 to 1, or a negative number for none",
		}
	case p.Jitter < 0:
		m.Jitter = new(float64)
	case p.Jitter > 0:
		m.Jitter = &p.Jitter
	}
	return json.Marshal(m)
}

// optionalInterval is Interval with the zero duration as "not given".
func optionalInterval(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return Interval(d)
}
