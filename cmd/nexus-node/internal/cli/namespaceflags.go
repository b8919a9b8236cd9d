package cli

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/queue"
)

// namespaceFlags are the options of a namespace, as flags.
type namespaceFlags struct {
	given    queue.NamespaceOptions
	metadata string
	consumer onOff
}

// add adds them; defaults says whether what is left out takes its default, or stays.
func (n *namespaceFlags) add(cmd *cobra.Command, defaults bool) {
	def := func(value string) string { return either(defaults, " (default "+value+")", "") }
	f := cmd.Flags()
	f.StringVar(&n.metadata, "metadata", "", "a JSON object of your own")
	addRetry(f, &n.given.Retry, def)
	f.DurationVar(&n.given.UnhandledAfter, "unhandled-after", 0, "how long a type that no node handles may wait"+def("1h"))
	f.DurationVar(&n.given.DedupeFor, "dedupe-for", 0, "how long dedupe keys are remembered"+def("168h"))
	f.DurationVar(&n.given.KeepBroadcasts, "keep-broadcasts", 0, "how long broadcasts are kept for nodes that have not read them"+def("24h"))
	f.DurationVar(&n.given.ExpireUnresolved, "expire-unresolved", 0, "age at which a dead letter that nobody resolves is resolved as expired; negative: none"+def("none"))
	f.IntVar(&n.given.MaxTriggerDepth, "max-trigger-depth", 0, "how deep in its chain an event may lie for triggers to fire; negative: as the database says"+def("8"))
	f.DurationVar(&n.given.DeadLetterRetention, "dead-letter-retention", 0, "how long resolved dead letters are kept; negative: as the database says"+def("720h"))
	f.DurationVar(&n.given.AbandonedRetention, "abandoned-retention", 0, "how long executions of requests that nobody waited for are kept; negative: as the database says"+def("168h"))
	f.Int64Var(&n.given.MaxPayloadBytes, "max-payload-bytes", 0, "largest payload, in bytes"+def("8 MB"))
	f.Var(&n.consumer, "default-consumer", "on; off for namespaces that use named consumers only"+def("on"))
}

func (n *namespaceFlags) options() *queue.NamespaceOptions {
	n.given.Metadata = jsonFlag(n.metadata)
	n.given.DefaultConsumer = queue.Switch(n.consumer)
	return &n.given
}

// addRetry adds the flags of a retry policy; def words a default, where there is one.
func addRetry(f *pflag.FlagSet, p *nexus.RetryPolicy, def func(value string) string) {
	f.IntVar(&p.MaxAttempts, "max-attempts", 0, "attempts before a delivery is given up; -1: never"+def("10"))
	f.StringVar((*string)(&p.Shape), "retry-shape", "", "exponential, linear or constant"+def("exponential"))
	f.DurationVar(&p.Base, "retry-base", 0, "pause after the first failure"+def("1s"))
	f.DurationVar(&p.Max, "retry-max", 0, "longest pause"+def("5m"))
	f.Float64Var(&p.Jitter, "retry-jitter", 0, "share by which pauses are spread, 0 to 1; negative: none"+def("0.2"))
}

// onOff is a flag that takes on or off.
type onOff string

func (o *onOff) String() string { return string(*o) }
func (o *onOff) Type() string   { return "on|off" }
func (o *onOff) Set(v string) error {
	if v != "on" && v != "off" {
		return errors.New("it takes on or off")
	}
	*o = onOff(v)
	return nil
}
