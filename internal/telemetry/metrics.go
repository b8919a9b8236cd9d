package telemetry

// Metric is a metric that a node exports.
type Metric struct {
	Name    string
	Kind    Kind
	Labels  []string
	Help    string
	Buckets []float64 // of a histogram
}

// Kind is spelt as Prometheus does.
type Kind string

// The kinds.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// The labels. Each has few values: event_type is the first pattern of the program's handlers that matches, never the type of an
// event, and there is none for nodes, since the scraper names the process.
const (
	LabelNamespace = "namespace"
	LabelConsumer  = "consumer"
	LabelEventType = "event_type"
	LabelResult    = "result"
	LabelState     = "state"
	LabelSweep     = "sweep"
	LabelBy        = "by"
	LabelStatus    = "status"
	LabelWorkflow  = "workflow"
)

// OtherType is the event_type of what no handler's pattern tells.
const OtherType = "other"

var (
	perType     = []string{LabelNamespace, LabelConsumer, LabelEventType}
	perConsumer = []string{LabelNamespace, LabelConsumer}
	perSpace    = []string{LabelNamespace}
)

// What nodes count and measure themselves.
var (
	EventsEmitted = Metric{"nexus_events_emitted_total", Counter, perSpace,
		"Events that Emitters of this process wrote, without duplicates; those of a transaction that rolled back are among them.", nil}
	EventsDelivered = Metric{"nexus_events_delivered_total", Counter, perType,
		"Deliveries that were handled and acknowledged.", nil}
	EventsRetried = Metric{"nexus_events_retried_total", Counter, perType,
		"Failed attempts that will be tried again.", nil}
	EventsHalted = Metric{"nexus_events_halted_total", Counter, perType,
		"Events of ordered consumers whose attempts are used up, and at which their lane stands.", nil}
	EventsDeadLettered = Metric{"nexus_events_dead_lettered_total", Counter, perType,
		"Deliveries given up by this node: rejected, out of attempts, or found after their processes died too often.", nil}
	EventsReleased = Metric{"nexus_events_released_total", Counter, perType,
		"Deliveries given back without using an attempt.", nil}
	LeasesLost = Metric{"nexus_leases_lost_total", Counter, perType,
		"Results refused because the lease was lost; another node may have handled the event.", nil}
	ClaimsHeldBack = Metric{"nexus_claims_held_back_total", Counter, append(perConsumer[:2:2], LabelBy),
		"Claims that limits of the consumer left no room for, or less than was asked for: by max_in_flight, by rate, or by lock while another claim was not through.", nil}
	HandlerDuration = Metric{"nexus_handler_duration_seconds", Histogram, append(perType[:3:3], LabelResult),
		"Duration of one call of handlers, by what became of it: ack, retry, reject, release, or late when it was given up first.",
		[]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}}
	HandlersRunning = Metric{"nexus_handlers_running", Gauge, perConsumer,
		"Calls of handlers under way.", nil}
	PickupLag = Metric{"nexus_pickup_lag_seconds", Histogram, perConsumer,
		"Time from when a delivery was due to when it was claimed, by the clocks of database and node.",
		[]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200}}
	Requests = Metric{"nexus_requests_total", Counter, append(perSpace[:1:1], LabelStatus),
		"Requests that handlers of this process ended, by status: 200 with a reply, else what went wrong; abandoned if nobody waited any more.", nil}
	RequestDuration = Metric{"nexus_request_duration_seconds", Histogram, perSpace,
		"Time from a request to its reply by a handler of this process, by the clock of the database.",
		[]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}}
	LaneMessages = Metric{"nexus_lane_messages_total", Counter, append(perConsumer[:2:2], LabelResult),
		"Messages of lanes by what became of them: handled, retried, dead, halted (its lane stands), released, split (one of several failed, and no attempt was used), or lost (settled after the lease had ended).", nil}
	StepDuration = Metric{"nexus_workflow_step_duration_seconds", Histogram, []string{LabelNamespace, LabelWorkflow, LabelResult},
		"Duration of one call of code of a workflow's step or compensation, by what became of it: ack, retry, reject, release, or late when it was given up first. Its count is that of steps.",
		[]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}}
	ClaimBatch = Metric{"nexus_claim_batch_deliveries", Histogram, perConsumer,
		"Deliveries that one claim brought.", []float64{0, 1, 2, 5, 10, 20, 50, 100, 200}}
)

// What is asked for at each scrape.
var (
	HeartbeatAge = Metric{"nexus_heartbeat_age_seconds", Gauge, perSpace,
		"Time since the database last answered a heartbeat of this node.", nil}
	FetchAge = Metric{"nexus_fetch_age_seconds", Gauge, perSpace,
		"Time since the database last answered a claim, or since the node last had no room for one while some worker might come back. Health goes by it.", nil}
	Ready = Metric{"nexus_node_ready", Gauge, perSpace,
		"1 if the node takes events: it runs, does not drain, has a worker that is not stuck, and its last claim was answered not long ago.", nil}
	HandlersStuck = Metric{"nexus_handlers_stuck", Gauge, perSpace,
		"Workers whose handlers ignore the end of their context: past their timeout and five seconds. Each takes nothing else until they return.", nil}
)

// What nodes sample from the database: one of a namespace, at most once in 15 seconds, and all report it.
var (
	QueueMessages = Metric{"nexus_queue_messages", Gauge, append(perConsumer[:2:2], LabelState),
		"Deliveries of a consumer by state: visible, in_flight, waiting, delayed or parked. Exact up to 10,000, estimates beyond.", nil}
	QueueOldest = Metric{"nexus_queue_oldest_seconds", Gauge, perConsumer,
		"Age of the oldest message on the queue of a consumer, whatever it waits for.", nil}
	QueuesLost = Metric{"nexus_queues_lost", Gauge, perSpace,
		"Queues whose tables are missing, that of dead letters among them: nothing is emitted to them, handled or buried. core.lost_queues names them.", nil}
	DeadLetters = Metric{"nexus_dead_letters_unresolved", Gauge, perSpace,
		"Dead letters that nobody has replayed or resolved; 10,001 means that many or more.", nil}
	DeadLettersClaimed = Metric{"nexus_dead_letters_claimed", Gauge, perSpace,
		"Unresolved dead letters that somebody holds a claim on; 10,001 means that many or more.", nil}
	AbandonedExecutions = Metric{"nexus_executions_abandoned", Gauge, perSpace,
		"Runs of handlers for requests whose reply nobody got, of the last 7 days; 10,001 means that many or more.", nil}
	Triggers = Metric{"nexus_triggers", Gauge, append(perSpace[:1:1], LabelState),
		"Triggers by state: enabled, disabled or held.", nil}
	TriggerDrops = Metric{"nexus_trigger_drops", Gauge, perSpace,
		"What triggers did not deliver in the last 7 days, since the event lay too deep or the trigger was deleted; 10,001 means that many or more.", nil}
	WorkflowRuns = Metric{"nexus_workflow_runs", Gauge, append(perSpace[:1:1], LabelStatus),
		"Runs of workflows by status: open, compensating, completed, failed, compensation_failed, cancelled or timed_out, as long as they are kept; 10,001 means that many or more.", nil}
	WorkflowDueLag = Metric{"nexus_workflow_due_lag_seconds", Gauge, perSpace,
		"Time since the oldest run was due that no node has taken, among those whose workflow a live node has.", nil}
	WorkflowStranded = Metric{"nexus_workflow_runs_stranded", Gauge, perSpace,
		"Runs that have not ended and go by a form of their workflow that no live node has; 10,001 means that many or more. core.workflow_waits says why.", nil}
	WorkflowParked = Metric{"nexus_workflow_runs_parked", Gauge, perSpace,
		"Runs, and branches of runs, in which processes died again and again, and which wait for somebody to retry or cancel them; 10,001 means that many or more.", nil}
	BroadcastLag = Metric{"nexus_broadcast_lag_seconds", Gauge, perSpace,
		"Age of the oldest broadcast that a live node of the namespace has not handled; 0 where there is none, or no node handles broadcasts.", nil}
	BroadcastsMissed = Metric{"nexus_broadcasts_missed", Gauge, perSpace,
		"Broadcasts that were removed by their age before a node had read them, of the nodes that are known.", nil}
	LaneLag = Metric{"nexus_lane_lag_messages", Gauge, perConsumer,
		"Messages of all lanes of a consumer that have not ended; 10,001 means that many or more.", nil}
	LaneLagSeconds = Metric{"nexus_lane_lag_seconds", Gauge, perConsumer,
		"Age of the oldest message at which a lane of a consumer stands; 0 where none waits.", nil}
	LanesBlocked = Metric{"nexus_lanes_blocked", Gauge, perConsumer,
		"Lanes that do not go on: their next message has failed, they are paused or have halted, or they were restored from another server.", nil}
	LaneStranded = Metric{"nexus_lane_messages_stranded", Gauge, perConsumer,
		"Messages of an outbox queue that no live node works, and nobody else either, once one has waited for a minute; 10,001 means that many or more. core.lane_status says why.", nil}
	LaneBlocked = Metric{"nexus_lane_blocked_seconds", Gauge, perConsumer,
		"How long the lane has not gone on that was stopped first by a failure or a pause; 0 where none is.", nil}
	LanePartitions = Metric{"nexus_lane_partitions_held", Gauge, nil,
		"Full partitions of messages of lanes that have their messages yet, of all namespaces: they go when no lane has any left in it.", nil}
	SweepAge = Metric{"nexus_sweep_age_seconds", Gauge, []string{LabelSweep},
		"Time since a piece of upkeep last ran well, on any node or by pg_cron; since it was installed if it never did.", nil}
	SweepInterval = Metric{"nexus_sweep_interval_seconds", Gauge, []string{LabelSweep},
		"How often a piece of upkeep is to run.", nil}
	SweepFailures = Metric{"nexus_sweep_failures", Gauge, []string{LabelSweep},
		"Failed runs of a piece of upkeep since the last good one.", nil}
	SampleAge = Metric{"nexus_sample_age_seconds", Gauge, perSpace,
		"Age of the sample that the gauges of queues, dead letters and sweeps come from.", nil}
)

// Metrics are all of them, in the order of the reference page.
func Metrics() []Metric {
	return []Metric{
		EventsEmitted, EventsDelivered, EventsRetried, EventsHalted, EventsDeadLettered, EventsReleased, LeasesLost, ClaimsHeldBack,
		HandlerDuration, HandlersRunning, PickupLag, ClaimBatch, LaneMessages, Requests, RequestDuration, StepDuration,
		HeartbeatAge, FetchAge, Ready, HandlersStuck,
		QueueMessages, QueueOldest, QueuesLost, DeadLetters, DeadLettersClaimed, AbandonedExecutions, Triggers, TriggerDrops, BroadcastLag, BroadcastsMissed,
		WorkflowRuns, WorkflowDueLag, WorkflowStranded, WorkflowParked, LaneLag, LaneLagSeconds, LanesBlocked, LaneStranded, LaneBlocked, LanePartitions, SweepAge, SweepInterval, SweepFailures, SampleAge,
	}
}
