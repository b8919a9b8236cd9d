package cli

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/config"
	"github.com/nexuspg/nexus/internal/db"
)

func newQueue(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "queue",
		Short:   "Look at queues without touching what is on them, or purge one",
		Example: "  nexus-node queue list",
	}, newQueueList(s), newQueuePeek(s), newQueuePurge(s))
}

func newQueueList(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List queues with their length, what is in flight, and how old the oldest message is",
		Long: `List the queues of Nexus. Lengths are exact up to 10,000; beyond that they are estimates, which length_is_estimate says.
A queue that somebody has locked (VACUUM FULL, TRUNCATE) has no numbers.`,
		Example: "  nexus-node queue list",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, pool, err := s.connect(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			records, err := selectRecords(cmd.Context(), pool, "list queues",
				`select queue_name, queue_length, visible, in_flight, waiting, delayed, parked, oldest_msg_age_seconds, length_is_estimate
				   from core.queue_metrics
				  order by queue_name`)
			if err != nil {
				return err
			}
			return s.printRecords([]string{
				"queue_name", "queue_length", "visible", "in_flight", "waiting", "delayed", "parked", "oldest_msg_age_seconds",
				"length_is_estimate",
			}, records)
		},
	}
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
			cfg, pool, err := s.connect(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			queue, err := queueName(cmd.Context(), cfg, pool, args, dead)
			if err != nil {
				return err
			}
			records, err := selectRecords(cmd.Context(), pool, "peek",
				`select msg_id, state, event_type, read_ct, enqueued_at, vt, message, headers
				   from core.peek($1::text, $2::int)
				  order by msg_id`, queue, limit)
			if err != nil {
				return err
			}
			return s.printRecords([]string{
				"msg_id", "state", "event_type", "read_ct", "enqueued_at", "vt", "message", "headers",
			}, records)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 10, "how many messages at most")
	cmd.Flags().BoolVar(&dead, "dead-letters", false, "the dead-letter queue of the namespace")
	return cmd
}

// queueName is the queue that was named, or one of the namespace's own.
func queueName(ctx context.Context, cfg *config.Config, pool *pgxpool.Pool, args []string, dead bool) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	if err := cfg.NeedNamespace(); err != nil {
		return "", err
	}
	function := "queue_name_for_namespace"
	if dead {
		function = "dead_letter_queue_name_for_namespace"
	}
	var name string
	err := db.Call(ctx, pool, function, "select core."+function+"($1::text)", []any{cfg.Namespace}, &name)
	return name, err
}
