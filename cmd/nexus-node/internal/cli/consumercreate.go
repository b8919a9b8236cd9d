package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/queue"
)

// defaultLanes is how many an ordered consumer gets for which nobody says.
const defaultLanes = 8

func newConsumerCreate(s *session) *cobra.Command {
	var (
		opts     queue.ConsumerOptions
		patterns []string
		from     string
		ordered  bool
	)
	cmd := &cobra.Command{
		Use:   "create NAME --pattern PATTERN",
		Short: "Create a consumer with a queue of its own; done again it changes nothing",
		Long: `Create a consumer with a queue of its own, to which every event is delivered whose type matches a pattern. Again it says exists and
changes nothing: what is given must be what is in force, and what is left out is no opinion.

With --from it also gets what is in the log, beginning there: each event once, also those that are emitted meanwhile. Ticks bring them, and
consumer show says how far they are.

With --ordered the events of one ordering key are handled one after the other, in the order of the log, and as many keys at once as there are
lanes. Such a consumer has no --max-in-flight, --rate, --levels and --unhandled-after.`,
		Example: `  nexus-node consumer create -n shop mailer --pattern order.placed --pattern "refund.*"
  nexus-node consumer create -n shop search --pattern "order.*" --from beginning --max-in-flight 3 --rate 100/s
  nexus-node consumer create -n shop ledger --pattern "account.*" --ordered --lanes 16 --halt`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(patterns) == 0 {
				return usage(cmd, `nothing says which events: give --pattern, such as --pattern "order.*"`)
			}
			if err := givenZero(cmd); err != nil {
				return err
			}
			switch {
			case ordered && opts.Lanes == 0:
				opts.Lanes = defaultLanes
			case !ordered && (opts.Lanes != 0 || opts.Halt):
				return usage(cmd, "--lanes and --halt are for an ordered consumer: give --ordered as well")
			}
			var err error
			if opts.FromNow = from == "now"; !opts.FromNow {
				if opts.FromBeginning, opts.FromTime, err = inLog(cmd, "from", from, "now, beginning"); err != nil {
					return err
				}
			}
			return s.inNamespace(cmd, func(c *client) error {
				made, err := queue.EnsureConsumer(c.ctx(), c.pool, c.namespace(), args[0], patterns, &opts)
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "consumer", name: args[0], state: either(made, "created", "exists")})
			})
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&patterns, "pattern", nil, `events that it gets: a type, "order.*", "order:*" or "*"; may be given often`)
	f.StringVar(&from, "from", "", "now, beginning, or a time of the past, RFC 3339: also what is in the log from then on (default now)")
	f.BoolVar(&ordered, "ordered", false, "events of one ordering key are handled one after the other")
	f.IntVar(&opts.Lanes, "lanes", 0, "with --ordered: how many lanes, 1 to 4,096 (default 8)")
	f.BoolVar(&opts.Halt, "halt", false, "with --ordered: an event whose attempts are used up stops its lane, and is no dead letter")
	addConsumerOptions(cmd, &opts.Retry, &opts.UnhandledAfter, &opts.MaxInFlight, &opts.Levels, &opts.Rate, true)
	return cmd
}

// addConsumerOptions adds the flags that create and alter share; defaults says whether what is left out takes its default, or stays.
func addConsumerOptions(cmd *cobra.Command, retry *nexus.RetryPolicy, unhandledAfter *time.Duration, maxInFlight, levels *int, rate *string, defaults bool) {
	def := func(value string) string { return either(defaults, " (default "+value+")", "") }
	f := cmd.Flags()
	f.IntVar(maxInFlight, "max-in-flight", 0, "deliveries in hand at once, over all nodes"+def("no limit"))
	f.StringVar(rate, "rate", "", "deliveries in a time, over all nodes: 5/s, 100/min"+def("no limit"))
	f.IntVar(levels, "levels", 0, "how many priorities of events it tells apart, up to 4"+def("1"))
	f.DurationVar(unhandledAfter, "unhandled-after", 0, "how long a type that no node handles may wait"+def("the namespace's"))
	addRetry(f, retry, func(string) string { return def("the namespace's") })
}

// givenZero refuses a zero that would be no option at all.
func givenZero(cmd *cobra.Command) error {
	for _, name := range []string{"max-in-flight", "levels", "unhandled-after"} {
		if f := cmd.Flags().Lookup(name); f.Changed && (f.Value.String() == "0" || f.Value.String() == "0s") {
			return usage(cmd, "--"+name+" is "+f.Value.String()+"; give more, or leave it out")
		}
	}
	return nil
}

// inLog is the place in the log that a flag names, which takes the words as well.
func inLog(cmd *cobra.Command, name, value, words string) (beginning bool, at time.Time, err error) {
	if value == "" || value == "beginning" {
		return value != "", at, nil
	}
	if at, err = time.Parse(time.RFC3339Nano, value); err != nil {
		err = usage(cmd, "--"+name+" is "+quote(value)+"; it takes "+words+", or a time with its offset, such as 2026-11-28T09:00:00Z")
	}
	return false, at, err
}
