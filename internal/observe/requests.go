package observe

import (
	"strconv"
	"time"

	"github.com/nexuspg/nexus"
)

// Requests makes the counts of requests begin at zero, see [Metrics.Observer].
func (m *Metrics) Requests(ns nexus.Namespace) {
	for _, status := range []string{"200", "422", "500", "503", "504", "507", "abandoned"} {
		m.requests.WithLabelValues(string(ns), status)
	}
	m.requestDuration.WithLabelValues(string(ns))
}

// Request counts one that was answered, and how long that took; or that nobody waited for any more.
func (m *Metrics) Request(ns nexus.Namespace, status int, took time.Duration, abandoned bool) {
	if abandoned {
		m.requests.WithLabelValues(string(ns), "abandoned").Inc()
		return
	}
	m.requests.WithLabelValues(string(ns), strconv.Itoa(status)).Inc()
	m.requestDuration.WithLabelValues(string(ns)).Observe(took.Seconds())
}
