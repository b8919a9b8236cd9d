package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/readmodel"
	"github.com/nexuspg/nexus/queue"
)

func newConsumer(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "consumer",
		Short:   "Create, look at, alter, pause and drop consumers",
		Example: "  nexus-node consumer list",
	}, newConsumerCreate(s), newConsumerAlter(s), newConsumerList(s), newConsumerShow(s),
		newConsumerSwitch(s, "pause", "Have nodes claim nothing more from a consumer; its events go on waiting on its queue", "paused", "was paused", queue.PauseConsumer),
		newConsumerSwitch(s, "resume", "Have nodes claim from a paused consumer again", "resumed", "was active", queue.ResumeConsumer),
		newConsumerDrop(s))
}

func newConsumerList(s *session) *cobra.Command {
	return s.newList(
		"List the consumers of the namespace, or of all, with what they take and how long their queues are", `  nexus-node consumer list -n shop
  nexus-node consumer list -n "" -o json`,
		readmodel.Consumers)
}

func newConsumerShow(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Show one consumer whole: its options, its queue, and how far its backfill is",
		Long: `Show one consumer whole: its options, the numbers of its queue, and how far its latest backfill is. A backfill that is waiting waits for
backfill_waits_for transactions to end; one that is running has looked at the log up to the event backfill_done_to of backfill_bound.`,
		Example: `  nexus-node consumer show -n shop mailer
  nexus-node consumer show -n shop default -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				missing := &notFound{
					fmt.Sprintf("no consumer %s in namespace %s that you may see", quote(args[0]), quote(c.cfg.Namespace)), "nexus-node consumer list",
				}
				return c.show("show consumer", missing, readmodel.Consumer, c.cfg.Namespace, args[0])
			})
		},
	}
}

// newConsumerSwitch is pause or resume: done says that it was done, was that there was nothing to do.
func newConsumerSwitch(
	s *session, verb, short, done, was string, do func(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string) (bool, error),
) *cobra.Command {
	return &cobra.Command{
		Use:     verb + " NAME",
		Short:   short,
		Example: "  nexus-node consumer " + verb + " -n shop mailer",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				changed, err := do(c.ctx(), c.pool, c.namespace(), args[0])
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "consumer", name: args[0], state: either(changed, done, was)})
			})
		},
	}
}
