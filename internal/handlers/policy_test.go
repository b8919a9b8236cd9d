package handlers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus"
)

func TestPolicyJSON(t *testing.T) {
	for want, p := range map[string]nexus.RetryPolicy{
		"":                     {},
		`{"max_attempts":-1}`:  {MaxAttempts: -1},
		`{"jitter":0}`:         {Jitter: -1},
		`{"base":"1.500000s"}`: {Base: 1500 * time.Millisecond},
		`{"max_attempts":3,"shape":"linear","max":"86400.000000s"}`: {MaxAttempts: 3, Shape: nexus.Linear, Max: 24 * time.Hour},
	} {
		if got := policyJSON(p); got != want {
			t.Errorf("%+v: %s, want %s", p, got, want)
		}
	}
}

// Of each field, the first handler that sets it decides, then what is said for all.
func TestHandlersOfOneTypeShareAPolicy(t *testing.T) {
	hs, err := New([]*Handler{
		{Pattern: "user.*", Retry: nexus.RetryPolicy{Base: time.Second}},
		{Pattern: "user.created", Retry: nexus.RetryPolicy{Base: time.Hour, MaxAttempts: 3}, Timeout: time.Minute},
		{Pattern: "user.deleted", Timeout: -1},
	}, nexus.RetryPolicy{MaxAttempts: 7, Shape: nexus.Constant})
	if err != nil {
		t.Fatal(err)
	}
	r := hs.Route("user.created")
	if want := `{"max_attempts":3,"shape":"constant","base":"1.000000s"}`; r.Policy != want || r.maxAttempts != 3 || r.Timeout != time.Minute {
		t.Errorf("policy %s, attempts %d, timeout %s", r.Policy, r.maxAttempts, r.Timeout)
	}
	if r := hs.Route("user.deleted"); r.Timeout != 0 {
		t.Errorf("timeout %s, want none, as one of the handlers has none", r.Timeout)
	}
	if r := hs.Route("order.placed"); r != nil {
		t.Errorf("a route for a type without handlers: %+v", r)
	}

	patterns, attempts := hs.Attempts()
	said := map[string]int{}
	for i, p := range patterns { // as SQL goes through them
		for _, eventType := range []string{"user.created", "user.renamed"} {
			if said[eventType] == 0 && Matches(p, eventType) {
				said[eventType] = attempts[i]
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"user.created": 3, "user.renamed": 7}, said); diff != "" {
		t.Error(diff)
	}
}
