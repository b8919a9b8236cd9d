package post

import (
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"":                               0,
		"0":                              0,
		"120":                            2 * time.Minute,
		" 7 ":                            7 * time.Second,
		"2592000":                        longest,
		"2592001":                        longest,
		"99999999999999999999":           longest,
		"9223372036854775807":            longest,
		"-1":                             0,
		"1.5":                            0,
		"soon":                           0,
		"Fri, 02 Jan 2026 03:05:05 GMT":  time.Minute,
		"Friday, 02-Jan-26 03:05:05 GMT": time.Minute,
		"Fri, 02 Jan 2026 03:04:05 GMT":  0,
		"Fri, 02 Jan 2025 03:05:05 GMT":  0,
		"Fri, 02 Jan 2099 03:05:05 GMT":  longest,
	} {
		if got, ok := retryAfter(header, now); ok != (want > 0) || ok && got != want {
			t.Errorf("%q: %s, %v, not %s", header, got, ok, want)
		}
	}
}
