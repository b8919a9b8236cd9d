package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
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
			cfg, pool, err := s.connectToList(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			l := listing{
				what: "list queues",
				sql:  `select q.queue_name from core.queues q where $1::text = '' or q.namespace = $1::text`,
				shown: `select p.queue_name, m.queue_length, m.visible, m.in_flight, m.waiting, m.delayed, m.parked, m.oldest_msg_age_seconds, m.length_is_estimate,
				          case when m.queue_length is not null then null
				               when exists (select from core.lost_queues l where l.queue_name = p.queue_name and 'queue' = any (l.missing)) then 'missing'
				               else 'locked' end as state
				   from p ` + queueCounts,
				args: []any{cfg.Namespace},
				names: []string{
					"queue_name", "queue_length", "visible", "in_flight", "waiting", "delayed", "parked", "oldest_msg_age_seconds", "length_is_estimate",
					"state",
				},
				keys: []key{{"queue_name", "text"}},
			}
			return s.watch(cmd.Context(), w, func() error { return s.printPage(cmd, pool, l, p) })
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
			cfg, pool, err := s.connect(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			queue, err := queueName(cmd.Context(), cfg, pool, args, dead)
			if err != nil {
				return err
			}
			more := limit > 0 && limit < mostPeeked
			records, err := selectRecords(cmd.Context(), pool, "peek",
				`select msg_id, state, event_type, read_ct, enqueued_at, vt, message, headers
				   from core.peek($1::text, $2::int)
				  order by msg_id`, queue, either(more, limit+1, limit))
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
			if err == nil && (more || len(records) == mostPeeked) {
				s.say(note{Text: fmt.Sprintf("%d shown, there are more; --limit takes up to %d, nexus-node queue list counts them", limit, mostPeeked), Shown: limit})
			}
			return err
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 10, "how many messages at most")
	cmd.Flags().BoolVar(&dead, "dead-letters", false, "the dead-letter queue of the namespace")
	return cmd
}

// mostPeeked is what core.peek shows at most.
const mostPeeked = 1000

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

// queueCounts joins as m what core.queue_metrics has of the queue of a row p. One at a time, and known to be one at most, or the planner would have
// all queues counted first.
const queueCounts = "left join lateral (select distinct on (m.queue_name) m.* from core.queue_metrics m where m.queue_name = p.queue_name) m on true"
