package handlers

import "testing"

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, eventType string
		want               bool
	}{
		{"order.placed", "order.placed", true},
		{"order.placed", "order.placed.late", false},
		{"order.placed", "Order.placed", false},
		{"order.*", "order.placed", true},
		{"order.*", "order.", true},
		{"order.*", "order", false},
		{"order.*", "orders.placed", false},
		{"order:*", "order:placed", true},
		{"order:*", "order.placed", false},
		{"order*", "order*", true}, // no pattern: a star must follow a separator
		{"order*", "orders", false},
		{"a.b.*", "a.c", false},
		{"*", "anything", true},
		{"*", "unknown.raw", true},
	} {
		if got := Matches(c.pattern, c.eventType); got != c.want {
			t.Errorf("Matches(%q, %q) = %v", c.pattern, c.eventType, got)
		}
	}
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"a.*", "a.b", true},
		{"a.*", "b.a", false},
		{"a.*", "a.b.*", true},
		{"a.*", "a:*", false},
		{"a.*", "b.*", false},
		{"*", "b.*", true},
		{"*", "b", true},
	} {
		if got := overlap(c.a, c.b); got != c.want {
			t.Errorf("overlap(%q, %q) = %v", c.a, c.b, got)
		}
		if got := overlap(c.b, c.a); got != c.want {
			t.Errorf("overlap(%q, %q) = %v", c.b, c.a, got)
		}
	}
}
