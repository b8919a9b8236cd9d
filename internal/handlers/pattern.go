package handlers

import "strings"

// Matches reports whether an event type falls under a pattern: the type itself, "prefix.*", "prefix:*" or "*". It agrees with
// core_private.matches, which decides what a node is given.
func Matches(pattern, eventType string) bool {
	prefix, wild := wildcard(pattern)
	if !wild {
		return pattern == eventType
	}
	return strings.HasPrefix(eventType, prefix)
}

// wildcard returns what must precede the star of a pattern, and whether it is one.
func wildcard(pattern string) (prefix string, ok bool) {
	if pattern == "*" {
		return "", true
	}
	if strings.HasSuffix(pattern, ".*") || strings.HasSuffix(pattern, ":*") {
		return pattern[:len(pattern)-1], true
	}
	return "", false
}

// overlap reports whether some event type falls under both patterns.
func overlap(a, b string) bool {
	pa, wa := wildcard(a)
	pb, wb := wildcard(b)
	switch {
	case wa && wb:
		return strings.HasPrefix(pa, pb) || strings.HasPrefix(pb, pa)
	case wa:
		return strings.HasPrefix(b, pa)
	case wb:
		return strings.HasPrefix(a, pb)
	}
	return a == b
}
