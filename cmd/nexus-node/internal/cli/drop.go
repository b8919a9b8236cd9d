package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/outbox"
	"github.com/nexuspg/nexus/queue"
)

func newConsumerDrop(s *session) *cobra.Command {
	return newDrop(s, "consumer", "consumer", queue.DropConsumer, &cobra.Command{
		Short: "Drop a consumer with its queue",
		Long: `Drop a consumer with its queue: it gets no more events, and its handlers lose their leases. The name is asked for twice, so that a line
from the shell's history does not drop the wrong one. While anything is undelivered or a dead letter of it is unresolved it is refused,
unless --force says to lose what waits; dead letters stay. A node that subscribes to it makes it again when it starts.

--dry-run drops it in a transaction and rolls that back: it is refused for the same reasons as the real thing.`,
		Example: `  nexus-node consumer drop -n shop mailer --confirm mailer --dry-run
  nexus-node consumer drop -n shop mailer --confirm mailer --force`,
	}, "drop it although it has undelivered events, which are lost, or dead letters")
}

func newOutboxDrop(s *session) *cobra.Command {
	return newDrop(s, "queue", "outbox queue", outbox.DropQueue, &cobra.Command{
		Short: "Drop an outbox queue",
		Long: `Drop an outbox queue; its processors lose their lanes. While it has messages that have not ended, or dead letters that are unresolved, it is
refused, unless --force says to lose what waits; dead letters stay. Either way it says what there is, counted to 10,000.

--dry-run drops it in a transaction and rolls that back: it is refused for the same reasons as the real thing.`,
		Example: `  nexus-node outbox drop -n shop payments --confirm payments --dry-run
  nexus-node outbox drop -n shop payments --confirm payments --force`,
	}, "drop it although it has messages, which are lost, or dead letters")
}

// newDrop makes of cmd, which has the texts, the command that drops what has a name in a namespace. It asks for the name twice.
func newDrop(
	s *session, thing, kind string, drop func(ctx context.Context, q nexus.DBTX, namespace nexus.Namespace, name string, force bool) error,
	cmd *cobra.Command, forced string,
) *cobra.Command {
	var (
		confirm       string
		force, dryRun bool
	)
	cmd.Use = "drop NAME --confirm NAME"
	cmd.Aliases = []string{"rm"}
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if confirm != args[0] {
			return usage(cmd, either(confirm == "", "--confirm is missing", "--confirm is "+quote(confirm))+"; it takes the "+thing+"'s name once more, "+quote(args[0]))
		}
		return s.inNamespace(cmd, func(c *client) error {
			if err := c.change(dryRun, func(q nexus.DBTX) error { return drop(c.ctx(), q, c.namespace(), args[0], force) }); err != nil {
				return err
			}
			return s.printDone(deed{kind, args[0], would(dryRun, "dropped"), dryRun})
		})
	}
	f := cmd.Flags()
	f.StringVar(&confirm, "confirm", "", "the "+thing+"'s name once more")
	f.BoolVar(&force, "force", false, forced)
	f.BoolVar(&dryRun, "dry-run", false, "do it, say what happened, and roll back")
	return cmd
}
