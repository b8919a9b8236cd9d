package nexus

import "time"

// RetryPolicy says when a failed attempt is repeated and how often. A zero field takes the value of the level above:
// handler, consumer, namespace, and at last the default given here. The delay itself is computed in SQL.
type RetryPolicy struct {
	MaxAttempts int           // first try included; -1: never give up (10)
	Shape       Shape         // how the delay grows (exponential)
	Base        time.Duration // delay after the first attempt (1 s)
	Max         time.Duration // no computed delay is longer (5 min)
	Jitter      float64       // share of the delay that is random, up to 1; negative: none (0.2)
}

// Shape is how the delay grows from attempt to attempt.
type Shape string

// The shapes a policy may have. The empty one inherits.
const (
	Exponential Shape = "exponential" // base, 2 base, 4 base, …
	Linear      Shape = "linear"      // base, 2 base, 3 base, …
	Constant    Shape = "constant"    // base, base, base, …
)
