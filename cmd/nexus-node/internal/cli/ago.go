package cli

import (
	"fmt"
	"slices"
	"time"
)

// exact are the columns whose times are what the list is about.
var exact = []string{"slot", "local_time", "until"}

// inWordsOfTime makes of each time what it is as seen from now: "3m ago", "in 2h". It is for tables at a terminal; a pipe and JSON have the time
// itself.
func inWordsOfTime(names, texts []string, now time.Time) {
	for i, text := range texts {
		if len(text) < len("2026-01-01T00:00:00Z") || i < len(names) && slices.Contains(exact, names[i]) {
			continue
		}
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			texts[i] = ago(t, now)
		}
	}
}

// ago is how far t is from now, to one unit; far off it is the day.
func ago(t, now time.Time) string {
	d := now.Sub(t).Abs()
	var text string
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		text = fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		text = fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		text = fmt.Sprintf("%dh", d/time.Hour)
	case d < 100*24*time.Hour:
		text = fmt.Sprintf("%dd", d/(24*time.Hour))
	default:
		return t.UTC().Format(time.DateOnly)
	}
	return either(t.After(now), "in "+text, text+" ago")
}
