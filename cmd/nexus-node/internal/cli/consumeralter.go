package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/queue"
)

// resettable are the options that --reset takes back.
var resettable = []string{"retry", "unhandled-after", "max-in-flight", "rate", "levels"}

// altered is what -o json prints.
type altered struct {
	Consumer string `json:"consumer"`
	State    string `json:"state"`
	Removed  int64  `json:"removed"`
	DryRun   bool   `json:"dry_run,omitempty"`
}

func newConsumerAlter(s *session) *cobra.Command {
	var (
		change   queue.ConsumerChange
		reset    []string
		backfill string
		dryRun   bool
	)
	cmd := &cobra.Command{
		Use:   "alter NAME",
		Short: "Change patterns and options of a consumer; those that are not given stay as they are",
		Long: `Change patterns and options of a consumer; those that are not given stay as they are, also of --max-attempts and --retry-…. All patterns are
given together, and hold for what is emitted from then on. What is queued stays, unless --drop-unmatched says to remove what waits and
matches none of them. With --backfill it also gets what is in the log, matches, and was not delivered to it.`,
		Example: `  nexus-node consumer alter -n shop mailer --pattern order.placed --drop-unmatched --dry-run
  nexus-node consumer alter -n shop search --pattern "order.*" --pattern "refund.*" --backfill beginning
  nexus-node consumer alter -n shop search --max-in-flight 8 --reset rate`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := false
			cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { given = given || f.Changed && f.Name != "dry-run" })
			if !given {
				return usage(cmd, "nothing says what to change: give an option")
			}
			if err := givenZero(cmd); err != nil {
				return err
			}
			for _, name := range reset {
				if err := oneOf(cmd, "reset", name, resettable...); err != nil {
					return err
				}
				if f := cmd.Flags().Lookup(name); f != nil && f.Changed || name == "retry" && change.Retry != (nexus.RetryPolicy{}) {
					return usage(cmd, "--reset "+name+" takes back what another flag gives")
				}
				change.Reset = append(change.Reset, strings.ReplaceAll(name, "-", "_"))
			}
			var err error
			if change.BackfillBeginning, change.BackfillTime, err = inLog(cmd, "backfill", backfill, "beginning"); err != nil {
				return err
			}
			return s.inNamespace(cmd, func(c *client) error {
				out := altered{Consumer: args[0], State: would(dryRun, "altered"), DryRun: dryRun}
				err := c.change(dryRun, func(q nexus.DBTX) (err error) {
					out.Removed, err = queue.AlterConsumer(c.ctx(), q, c.namespace(), args[0], change)
					return err
				})
				if err != nil {
					return err
				}
				if s.format == asJSON {
					return s.printJSON(out)
				}
				names := []string{"consumer", "state", either(dryRun, "would remove", "removed")}
				return s.printFields(names, []string{out.Consumer, out.State, strconv.FormatInt(out.Removed, 10)})
			})
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&change.Patterns, "pattern", nil, `all events that it gets from now on: a type, "order.*", "order:*" or "*"; may be given often`)
	f.BoolVar(&change.DropUnmatched, "drop-unmatched", false, "remove what waits, is delayed or parked and matches no pattern")
	f.StringVar(&backfill, "backfill", "", "beginning, or a time of the past, RFC 3339: also what is in the log from then on")
	f.StringArrayVar(&reset, "reset", nil, "back to what the namespace says, or to no limit: "+strings.Join(resettable, ", ")+"; may be given often")
	f.BoolVar(&dryRun, "dry-run", false, "do it, say what would be removed, and roll back")
	addConsumerOptions(cmd, &change.Retry, &change.UnhandledAfter, &change.MaxInFlight, &change.Levels, &change.Rate, false)
	return cmd
}
