package observe

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/nexuspg/nexus/internal/telemetry"
)

const (
	// sampleEvery is how old a sample of the database may be.
	sampleEvery = 15 * time.Second

	// sampleTimeout bounds what a scrape waits for the database.
	sampleTimeout = 2 * time.Second
)

// Node is what a running node tells when it is asked.
type Node struct {
	Namespace string
	Heartbeat func() time.Time // last answered
	Fetch     func() time.Time // last answered
	Ready     func() bool
	Stuck     func() int // workers whose handlers ignore the end of their context

	// Sample returns the answer of core_node.metrics_sample.
	Sample func(ctx context.Context, maxAge time.Duration) ([]byte, error)
}

// node is one that was added, with its last sample.
type node struct {
	Node
	mu     sync.Mutex
	asked  time.Time
	found  time.Time
	sample sample
}

// sample is the answer of core_node.metrics_sample.
type sample struct {
	Age    float64 `json:"age_seconds"`
	Queues []struct {
		Consumer string  `json:"consumer"`
		Lost     bool    `json:"lost"` // its table is missing
		Visible  float64 `json:"visible"`
		InFlight float64 `json:"in_flight"`
		Waiting  float64 `json:"waiting"`
		Delayed  float64 `json:"delayed"`
		Parked   float64 `json:"parked"`
		Oldest   float64 `json:"oldest_seconds"`
	} `json:"queues"`
	LostQueues   float64            `json:"lost_queues"`
	DeadLetters  float64            `json:"dead_letters"`
	Abandoned    float64            `json:"abandoned_executions"`
	Claimed      float64            `json:"dead_letters_claimed"`
	Triggers     map[string]float64 `json:"triggers"` // by state
	TriggerDrops float64            `json:"trigger_drops"`
	Workflows    *struct {          // nil: the namespace has none
		Runs     map[string]float64 `json:"runs"` // by status
		DueLag   float64            `json:"due_lag_seconds"`
		Stranded float64            `json:"stranded"`
		Parked   float64            `json:"parked"`
	} `json:"workflows"`
	Broadcasts struct { // zero where no node handles any
		Lag    float64 `json:"lag_seconds"`
		Missed float64 `json:"missed"`
	} `json:"broadcasts"`
	Lanes []struct {
		Consumer       string  `json:"consumer"`
		Messages       float64 `json:"messages"`
		LagSeconds     float64 `json:"lag_seconds"`
		Blocked        float64 `json:"blocked"`
		Stranded       float64 `json:"stranded"`
		BlockedSeconds float64 `json:"blocked_seconds"`
	} `json:"lanes"`
	LanePartitions float64 `json:"lane_partitions"`
	Sweeps         []struct {
		Name     string   `json:"name"`
		Failures float64  `json:"failures"`
		Every    float64  `json:"every_seconds"`
		Age      *float64 `json:"age_seconds"` // nil in a sample from before an upgrade
	} `json:"sweeps"`
}

// Add makes a node's gauges appear until remove is called.
func (m *Metrics) Add(n Node) (remove func()) {
	added := &node{Node: n}
	m.mu.Lock()
	m.nodes = append(m.nodes, added)
	m.mu.Unlock()
	return func() {
		m.mu.Lock()
		m.nodes = slices.DeleteFunc(m.nodes, func(n *node) bool { return n == added })
		m.mu.Unlock()
	}
}

// look returns the last sample and the seconds since it came, after asking for a new one if that one is old. A database that does not answer
// costs one timeout in sampleEvery.
func (n *node) look(now time.Time) (s sample, since float64, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now.Sub(n.asked) >= sampleEvery {
		n.asked = now
		ctx, cancel := context.WithTimeout(context.Background(), sampleTimeout)
		defer cancel()
		var fresh sample
		raw, err := n.Sample(ctx, sampleEvery)
		if err == nil && json.Unmarshal(raw, &fresh) == nil {
			n.sample, n.found = fresh, now
		}
	}
	if n.found.IsZero() {
		return sample{}, 0, false
	}
	return n.sample, now.Sub(n.found).Seconds(), true
}

// space is what the nodes of one namespace tell together: of several the worst, since one series stands for them.
type space struct {
	heartbeat, fetch float64
	ready, stuck     float64
	nodes            []*node
}

func (m *Metrics) collectNodes(ch chan<- prometheus.Metric) {
	m.mu.Lock()
	nodes := slices.Clone(m.nodes)
	m.mu.Unlock()
	gauge := func(d telemetry.Metric, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(m.asked[d.Name], prometheus.GaugeValue, v, labels...)
	}
	now := time.Now()
	spaces := map[string]*space{}
	for _, n := range nodes {
		s := spaces[n.Namespace]
		if s == nil {
			s = &space{ready: 1}
			spaces[n.Namespace] = s
		}
		s.heartbeat = max(s.heartbeat, now.Sub(n.Heartbeat()).Seconds())
		s.fetch = max(s.fetch, now.Sub(n.Fetch()).Seconds())
		if !n.Ready() {
			s.ready = 0
		}
		s.stuck += float64(n.Stuck())
		s.nodes = append(s.nodes, n)
	}
	newest, partitions, sweeps := 0.0, 0.0, sample{}.Sweeps
	for name, s := range spaces {
		gauge(telemetry.HeartbeatAge, s.heartbeat, name)
		gauge(telemetry.FetchAge, s.fetch, name)
		gauge(telemetry.Ready, s.ready, name)
		gauge(telemetry.HandlersStuck, s.stuck, name)
		// They share one sample in the database, so any of them can ask.
		found, since, ok := s.nodes[0].look(now)
		if !ok {
			continue
		}
		gauge(telemetry.SampleAge, found.Age+since, name)
		gauge(telemetry.DeadLetters, found.DeadLetters, name)
		gauge(telemetry.AbandonedExecutions, found.Abandoned, name)
		gauge(telemetry.TriggerDrops, found.TriggerDrops, name)
		for state, v := range found.Triggers {
			gauge(telemetry.Triggers, v, name, state)
		}
		gauge(telemetry.DeadLettersClaimed, found.Claimed, name)
		if flows := found.Workflows; flows != nil {
			for status, v := range flows.Runs {
				gauge(telemetry.WorkflowRuns, v, name, status)
			}
			gauge(telemetry.WorkflowDueLag, flows.DueLag, name)
			gauge(telemetry.WorkflowStranded, flows.Stranded, name)
			gauge(telemetry.WorkflowParked, flows.Parked, name)
		}
		gauge(telemetry.QueuesLost, found.LostQueues, name)
		gauge(telemetry.BroadcastLag, found.Broadcasts.Lag, name)
		gauge(telemetry.BroadcastsMissed, found.Broadcasts.Missed, name)
		for _, q := range found.Queues {
			states := map[string]float64{"delayed": q.Delayed, "parked": q.Parked}
			if !q.Lost {
				states["visible"], states["in_flight"], states["waiting"] = q.Visible, q.InFlight, q.Waiting
				gauge(telemetry.QueueOldest, q.Oldest, name, q.Consumer)
			}
			for state, v := range states {
				gauge(telemetry.QueueMessages, v, name, q.Consumer, state)
			}
		}
		for _, l := range found.Lanes {
			gauge(telemetry.LaneLag, l.Messages, name, l.Consumer)
			gauge(telemetry.LaneLagSeconds, l.LagSeconds, name, l.Consumer)
			gauge(telemetry.LanesBlocked, l.Blocked, name, l.Consumer)
			gauge(telemetry.LaneStranded, l.Stranded, name, l.Consumer)
			gauge(telemetry.LaneBlocked, l.BlockedSeconds, name, l.Consumer)
		}
		if sweeps == nil || since < newest {
			newest, sweeps, partitions = since, found.Sweeps, found.LanePartitions
		}
	}
	if sweeps != nil {
		gauge(telemetry.LanePartitions, partitions)
	}
	for _, s := range sweeps {
		gauge(telemetry.SweepFailures, s.Failures, s.Name)
		if s.Every > 0 {
			gauge(telemetry.SweepInterval, s.Every, s.Name)
		}
		if s.Age != nil {
			gauge(telemetry.SweepAge, *s.Age+newest, s.Name)
		}
	}
}
