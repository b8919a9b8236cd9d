package cli

import (
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/queue"
)

func newConsumerDrop(s *session) *cobra.Command {
	var (
		confirm       string
		force, dryRun bool
	)
	cmd := &cobra.Command{
		Use:     "drop NAME --confirm NAME",
		Aliases: []string{"rm"},
		Short:   "Drop a consumer with its queue",
		Long: `Drop a consumer with its queue: it gets no more events, and its handlers lose their leases. The name is asked for twice, so that a line
from the shell's history does not drop the wrong one. While anything is undelivered or a dead letter of it is unresolved it is refused,
unless --force says to lose what waits; dead letters stay. A node that subscribes to it makes it again when it starts.

--dry-run drops it in a transaction and rolls that back: it is refused for the same reasons as the real thing.`,
		Example: `  nexus-node consumer drop -n shop mailer --confirm mailer --dry-run
  nexus-node consumer drop -n shop mailer --confirm mailer --force`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if confirm != args[0] {
				return usage(cmd, either(confirm == "", "--confirm is missing", "--confirm is "+quote(confirm))+"; it takes the consumer's name once more, "+quote(args[0]))
			}
			return s.inNamespace(cmd, func(c *client) error {
				drop := func(q nexus.DBTX) error { return queue.DropConsumer(c.ctx(), q, c.namespace(), args[0], force) }
				if err := c.change(dryRun, drop); err != nil {
					return err
				}
				return s.printDone(deed{"consumer", args[0], would(dryRun, "dropped"), dryRun})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&confirm, "confirm", "", "the consumer's name once more")
	f.BoolVar(&force, "force", false, "drop it although it has undelivered events, which are lost, or dead letters")
	f.BoolVar(&dryRun, "dry-run", false, "do it, say what happened, and roll back")
	return cmd
}
