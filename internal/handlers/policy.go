package handlers

import (
	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
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

// policyJSON is the policy as core_node.settle takes it, with only the fields that are set; "" if none is, so that SQL uses the
// consumer's alone.
func policyJSON(p nexus.RetryPolicy) string {
	raw, err := db.Policy("settle", p)
	if err != nil { // a jitter that is no number, which was refused when the handler was registered
		return ""
	}
	return string(raw)
}
