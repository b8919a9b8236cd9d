package work

// Abilities are what a node can do, or a part of it.
type Abilities struct {
	Types     []string // patterns of event types
	Consumers []string // for each of the types the consumer that it is handled for
	Workflows []string
	Queues    []string // outbox queues
}
