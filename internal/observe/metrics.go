package observe

import (
	"errors"
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/telemetry"
)

// Metrics are those of all nodes of a process that share a registry.
type Metrics struct {
	delivered, retried, halted, deadLettered, released, leasesLost, heldBack, requests, lanes *prometheus.CounterVec
	running                                                                                   *prometheus.GaugeVec
	duration, pickupLag, claimBatch, requestDuration, stepDuration                            *prometheus.HistogramVec

	vecs  []prometheus.Collector
	asked map[string]*prometheus.Desc // made at each scrape, by name

	mu    sync.Mutex
	nodes []*node // in the order they were added
}

// Register makes the metrics known to reg, or finds those that another node has made known to it.
func Register(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{asked: map[string]*prometheus.Desc{}}
	counter := func(d telemetry.Metric) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.Labels)
		m.vecs = append(m.vecs, v)
		return v
	}
	histogram := func(d telemetry.Metric) *prometheus.HistogramVec {
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d.Name, Help: d.Help, Buckets: d.Buckets}, d.Labels)
		m.vecs = append(m.vecs, v)
		return v
	}
	m.delivered, m.retried = counter(telemetry.EventsDelivered), counter(telemetry.EventsRetried)
	m.halted = counter(telemetry.EventsHalted)
	m.deadLettered, m.released = counter(telemetry.EventsDeadLettered), counter(telemetry.EventsReleased)
	m.leasesLost, m.heldBack = counter(telemetry.LeasesLost), counter(telemetry.ClaimsHeldBack)
	m.duration, m.pickupLag = histogram(telemetry.HandlerDuration), histogram(telemetry.PickupLag)
	m.claimBatch = histogram(telemetry.ClaimBatch)
	m.requests, m.requestDuration = counter(telemetry.Requests), histogram(telemetry.RequestDuration)
	m.lanes = counter(telemetry.LaneMessages)
	m.stepDuration = histogram(telemetry.StepDuration)
	m.running = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: telemetry.HandlersRunning.Name, Help: telemetry.HandlersRunning.Help,
	}, telemetry.HandlersRunning.Labels)
	m.vecs = append(m.vecs, m.running)
	for _, d := range []telemetry.Metric{
		telemetry.EventsEmitted, telemetry.HeartbeatAge, telemetry.FetchAge, telemetry.Ready, telemetry.HandlersStuck, telemetry.QueueMessages,
		telemetry.QueueOldest, telemetry.QueuesLost, telemetry.DeadLetters, telemetry.DeadLettersClaimed, telemetry.AbandonedExecutions, telemetry.Triggers, telemetry.TriggerDrops, telemetry.BroadcastLag, telemetry.BroadcastsMissed,
		telemetry.WorkflowRuns, telemetry.WorkflowDueLag, telemetry.WorkflowStranded, telemetry.WorkflowParked, telemetry.LaneLag, telemetry.LaneLagSeconds, telemetry.LanesBlocked, telemetry.LaneStranded, telemetry.LaneBlocked, telemetry.LanePartitions, telemetry.SweepAge, telemetry.SweepInterval, telemetry.SweepFailures, telemetry.SampleAge,
	} {
		m.asked[d.Name] = prometheus.NewDesc(d.Name, d.Help, d.Labels, nil)
	}
	err := reg.Register(m)
	if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if there, ok := already.ExistingCollector.(*Metrics); ok {
			return there, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return m, nil
}

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, v := range m.vecs {
		v.Describe(ch)
	}
	for _, d := range m.asked {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, v := range m.vecs {
		v.Collect(ch)
	}
	telemetry.EachEmitted(func(ns nexus.Namespace, n int64) {
		ch <- prometheus.MustNewConstMetric(m.asked[telemetry.EventsEmitted.Name], prometheus.CounterValue, float64(n), string(ns))
	})
	m.collectNodes(ch)
}
