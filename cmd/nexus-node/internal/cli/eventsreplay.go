package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/operate"
)

// replayed is what -o json prints.
type replayed struct {
	operate.ReplayProgress
	DryRun bool `json:"dry_run,omitempty"`
}

func newEventsReplay(s *session) *cobra.Command {
	var (
		consumer, from, until string
		which                 operate.ReplayFilter
		opts                  operate.ReplayOptions
	)
	cmd := &cobra.Command{
		Use:   "replay [ID|UID...] --consumer CONSUMER",
		Short: "Deliver events of the log to one consumer again",
		Long: `Deliver events of the log to one consumer again: those that are named, or by --type and other flags, of which all have to
fit. What the consumer has no patterns for is left out. The events keep their ids, and handlers see that it is a replay, and which.

It goes through the log in steps that each commit. Stopped half way, the same line with --id, which it prints, does the rest and delivers
nothing twice; core.replays shows how far each is. What is emitted meanwhile is no part of it.

--dry-run counts. Dead letters have a verb of their own: dlq replay.`,
		Example: `  nexus-node events replay -n shop --consumer mailer 4711 4712
  nexus-node events replay -n shop --consumer search --type 'order.*' --from 2027-01-31T08:00:00Z --dry-run
  nexus-node events replay -n shop --consumer search --type 'order.*' --rate 100/min --id reindex-7`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if consumer == "" {
				return usage(cmd, "--consumer is missing; it says who gets the events again")
			}
			if opts.Limit < 0 {
				return usage(cmd, "--limit cannot be negative")
			}
			var err error
			if which.From, err = timeFlag(cmd, "from", from); err != nil {
				return err
			}
			if which.Until, err = timeFlag(cmd, "until", until); err != nil {
				return err
			}
			refs := make([]eventRef, len(args))
			for i, arg := range args {
				if refs[i], err = eventArg(cmd, arg); err != nil {
					return err
				}
			}
			return s.inNamespace(cmd, func(c *client) error {
				if len(args) > 0 {
					if which.EventIDs, err = c.eventIDs(args, refs); err != nil {
						return err
					}
				}
				shown := &progress{session: s}
				p, err := operate.ReplayEventsAll(c.ctx(), c.pool, c.namespace(), consumer, which, &opts, func(p operate.ReplayProgress) {
					shown.at(int(p.Delivered), fmt.Sprintf("%d delivered, replay %s", p.Delivered, p.ID))
				})
				shown.end()
				if err != nil {
					if p.ID != "" {
						s.say(note{Text: "to go on: the same line with --id " + p.ID})
					}
					return err
				}
				if s.format == asJSON {
					return s.printJSON(replayed{p, opts.DryRun})
				}
				if opts.DryRun {
					return s.printFields([]string{"would deliver"}, []string{strconv.FormatInt(p.Delivered, 10)})
				}
				return s.printFields([]string{"replay_id", "delivered"}, []string{p.ID, strconv.FormatInt(p.Delivered, 10)})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&consumer, "consumer", "", "who gets the events again; default is the consumer of the main queue")
	f.StringVar(&which.Type, "type", "", "an event type or a pattern: order.placed, order.*, *")
	f.StringVar(&from, "from", "", "emitted then or later, with an offset: 2027-01-31T08:00:00Z")
	f.StringVar(&until, "until", "", "emitted before then")
	f.StringVar(&which.Tag, "tag", "", "with this tag")
	f.StringVar(&which.OrderingKey, "key", "", "with this ordering key")
	f.StringVar(&which.CorrelationID, "correlation", "", "with this correlation id")
	f.StringVar(&opts.ID, "id", "", "name of the replay: one that was stopped goes on; left out, a new one is made")
	f.Int64Var(&opts.Limit, "limit", 0, "how many at most, oldest first; 0: all")
	f.StringVar(&opts.Rate, "rate", "", "deliveries at most: 5/s, 100/min; left out, as fast as can be")
	f.BoolVar(&opts.DryRun, "dry-run", false, "only count")
	return cmd
}
