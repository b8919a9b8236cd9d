package cli

import "github.com/spf13/cobra"

func newConsumer(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "consumer",
		Short:   "Look at the consumers",
		Example: "  nexus-node consumer list",
	}, newConsumerList(s))
}

func newConsumerList(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the consumers of the namespace, or of all, with what they take and how long their queues are",
		Example: `  nexus-node consumer list -n shop
  nexus-node consumer list -n "" -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, pool, err := s.connectToList(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			records, err := selectRecords(cmd.Context(), pool, "list consumers",
				`select c.namespace, c.name, c.kind, c.state, c.patterns, c.queue_name, m.queue_length, m.in_flight, m.parked, c.max_in_flight, c.created_at
				   from core.consumers c left join core.queue_metrics m on m.queue_name = c.queue_name
				  where $1::text = '' or c.namespace = $1::text
				  order by c.namespace, c.consumer_id`, cfg.Namespace)
			if err != nil {
				return err
			}
			return s.printRecords([]string{
				"namespace", "name", "kind", "state", "patterns", "queue_name", "queue_length", "in_flight", "parked", "max_in_flight", "created_at",
			}, records)
		},
	}
}
