package post

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longest is how far ahead a retry can be: 30 days, as of every verdict.
const longest = 30 * 24 * time.Hour

// retryAfter reads the header Retry-After: seconds, or a date of HTTP. What has passed, and what is neither, says nothing.
func retryAfter(header string, now time.Time) (time.Duration, bool) {
	header = strings.TrimSpace(header)
	if header == "" {
		return 0, false
	}
	if strings.Trim(header, "0123456789") == "" {
		seconds, err := strconv.ParseInt(header, 10, 64)
		if err != nil || seconds > int64(longest/time.Second) {
			return longest, true
		}
		return time.Duration(seconds) * time.Second, seconds > 0
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0, false
	}
	after := min(at.Sub(now), longest)
	return after, after > 0
}
