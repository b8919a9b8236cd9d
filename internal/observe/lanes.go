package observe

import "github.com/nexuspg/nexus"

// Lane counts messages of a consumer's lanes by what became of them. None of them makes all counts begin at zero, see [Metrics.Observer].
func (m *Metrics) Lane(ns nexus.Namespace, consumer, result string, n int) {
	if n > 0 {
		m.lanes.WithLabelValues(string(ns), consumer, result).Add(float64(n))
		return
	}
	for _, result := range []string{"handled", "retried", "dead", "halted", "released", "split", "lost"} {
		m.lanes.WithLabelValues(string(ns), consumer, result)
	}
}
