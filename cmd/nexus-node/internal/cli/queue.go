package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/readmodel"
	"github.com/nexuspg/nexus/operate"
)

func newQueue(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "queue",
		Short:   "Look at queues without touching what is on them, or purge one",
		Example: "  nexus-node queue list",
	}, newQueueList(s), newQueuePeek(s), newQueuePurge(s))
}

func newQueueList(s *session) *cobra.Command {
	var (
		p page
		w watching
	)
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the queues of the namespace, or of all, with their length, what is in flight, and how old the oldest message is",
		Long: `List the queues of Nexus. Lengths are exact up to 10,000; beyond that they are estimates, which length_is_estimate says.
A queue that somebody has locked (VACUUM FULL, TRUNCATE) has no numbers, and neither has one whose table is missing; state says which of the
two it is. nexus-node doctor --fix makes a missing one again.`,
		Example: `  nexus-node queue list -n shop
  nexus-node queue list -n shop --watch
  nexus-node queue list -n "" -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmp.Or(p.check(cmd), w.check(cmd)); err != nil {
				return err
			}
			return s.amongVisible(cmd, func(c *client) error {
				return s.watch(cmd.Context(), w, func() error { return c.printPage(readmodel.Queues(c.cfg.Namespace), p) })
			})
		},
	}
	p.add(cmd)
	w.add(cmd)
	return cmd
}

func newQueuePeek(s *session) *cobra.Command {
	var limit int
	var dead bool
	cmd := &cobra.Command{
		Use:   "peek [QUEUE]",
		Short: "Show the first messages of a queue and change nothing: no read count, no lease",
		Long: `Show the first messages of a queue, by default the main queue of the namespace. Unlike pgmq.read this takes no lease
and uses up no attempt.`,
		Example: `  nexus-node queue peek -n shop
  nexus-node queue peek -n shop --dead-letters --limit 3
  nexus-node queue peek core_events_shop__mailer -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.connected(cmd, func(c *client) error {
				queue, err := c.queueName(args, dead)
				if err != nil {
					return err
				}
				more := limit > 0 && limit < readmodel.MostPeeked
				records, err := c.read("peek", readmodel.Peek, queue, either(more, limit+1, limit))
				if err != nil {
					return err
				}
				more = more && len(records) > limit
				if more {
					records = records[:limit]
				}
				err = s.printRecords([]string{
					"msg_id", "state", "event_type", "read_ct", "enqueued_at", "vt", "message", "headers",
				}, records)
				if err == nil && (more || len(records) == readmodel.MostPeeked) {
					s.say(note{Text: fmt.Sprintf("%d shown, there are more; --limit takes up to %d, nexus-node queue list counts them", limit, readmodel.MostPeeked), Shown: limit})
				}
				return err
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 10, "how many messages at most")
	cmd.Flags().BoolVar(&dead, "dead-letters", false, "the dead-letter queue of the namespace")
	return cmd
}

// queueName is the queue that was named, or one of the namespace's own.
func (c *client) queueName(args []string, dead bool) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	if err := c.cfg.NeedNamespace(); err != nil {
		return "", err
	}
	if dead {
		return operate.DeadLetterQueueName(c.ctx(), c.pool, c.namespace())
	}
	return operate.QueueName(c.ctx(), c.pool, c.namespace())
}
