package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/readmodel"
	"github.com/nexuspg/nexus/operate"
)

// purged is what -o json prints.
type purged struct {
	operate.Purged
	DryRun bool `json:"dry_run,omitempty"`
}

func newQueuePurge(s *session) *cobra.Command {
	var (
		confirm      string
		dead, dryRun bool
	)
	cmd := &cobra.Command{
		Use:   "purge [QUEUE] --confirm QUEUE",
		Short: "Remove all messages of a queue for good",
		Long: `Remove all messages of a queue, by default the main queue of the namespace: those in flight, delayed and parked among them.
Their events stay in the log and no dead letters are made. On a dead-letter queue it removes copies only: dead letters are
resolved by dlq. The name is asked for twice. It works in batches that each commit; stopped, it has removed some.

--dry-run removes them in one transaction, counts, and rolls back: it locks them meanwhile.`,
		Example: `  nexus-node queue purge core_events_shop --confirm core_events_shop --dry-run
  nexus-node queue purge -n shop --dead-letters --confirm core_events_shop_dlq`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.connected(cmd, func(c *client) error {
				queue, err := c.queueName(args, dead)
				if err != nil {
					return err
				}
				shown, err := c.purgeProgress(queue)
				if err != nil {
					return err
				}
				var total operate.Purged
				err = c.change(dryRun, func(q nexus.DBTX) (err error) {
					defer shown.end()
					total, err = operate.PurgeQueueAll(c.ctx(), q, queue, confirm, func(sofar operate.Purged) {
						shown.at(int(sofar.Removed), fmt.Sprintf("%d %s, %d delayed, %d parked", sofar.Removed, would(dryRun, "removed"), sofar.Delayed, sofar.Parked))
					})
					return err
				})
				if err != nil {
					return err
				}
				if s.format == asJSON {
					return s.printJSON(purged{total, dryRun})
				}
				names := []string{"removed", "in_flight", "delayed", "parked"}
				if dryRun {
					names = []string{"would remove", "in_flight, of those", "would remove delayed", "would remove parked"}
				}
				return s.printFields(names, []string{
					strconv.FormatInt(total.Removed, 10), strconv.FormatInt(total.InFlight, 10),
					strconv.FormatInt(total.Delayed, 10), strconv.FormatInt(total.Parked, 10),
				})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&confirm, "confirm", "", "the queue's name once more")
	f.BoolVar(&dead, "dead-letters", false, "the dead-letter queue of the namespace")
	f.BoolVar(&dryRun, "dry-run", false, "do it, count, and roll back")
	return cmd
}

// purgeProgress knows how long the queue is, where somebody looks on.
func (c *client) purgeProgress(queue string) (*progress, error) {
	p := &progress{session: c.session}
	if !c.StderrTerminal || c.format == asJSON {
		return p, nil
	}
	records, err := c.read("look how long the queue is", readmodel.QueueLength, queue)
	if err == nil && len(records) > 0 {
		_, err = fmt.Sscan(records[0].Texts()[0], &p.total)
	}
	return p, err
}
