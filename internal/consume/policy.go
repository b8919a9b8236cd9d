package consume

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/nexuspg/nexus"
)

// Merge fills the zero fields of p from below.
func Merge(p, below nexus.RetryPolicy) nexus.RetryPolicy {
	if p.MaxAttempts == 0 {
		p.MaxAttempts = below.MaxAttempts
	}
	if p.Shape == "" {
		p.Shape = below.Shape
	}
	if p.Base == 0 {
		p.Base = below.Base
	}
	if p.Max == 0 {
		p.Max = below.Max
	}
	if p.Jitter == 0 {
		p.Jitter = below.Jitter
	}
	return p
}

// policyJSON is the policy as core.settle takes it, with only the fields that are set; "" if none is, so that SQL uses the
// consumer's alone.
func policyJSON(p nexus.RetryPolicy) string {
	m := map[string]any{}
	if p.MaxAttempts != 0 {
		m["max_attempts"] = p.MaxAttempts
	}
	if p.Shape != "" {
		m["shape"] = string(p.Shape)
	}
	if p.Base != 0 {
		m["base"] = interval(p.Base)
	}
	if p.Max != 0 {
		m["max"] = interval(p.Max)
	}
	switch {
	case p.Jitter < 0:
		m["jitter"] = 0
	case p.Jitter > 0:
		m["jitter"] = p.Jitter
	}
	if len(m) == 0 {
		return ""
	}
	b, err := json.Marshal(m)
	if err != nil { // numbers and strings only; a Jitter of NaN was refused before
		return ""
	}
	return string(b)
}

// interval writes d as Postgres reads it, exact to the microsecond.
func interval(d time.Duration) string {
	return strconv.FormatInt(d.Microseconds(), 10) + " microseconds"
}
