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
	var p page
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the consumers of the namespace, or of all, with what they take and how long their queues are",
		Example: `  nexus-node consumer list -n shop
  nexus-node consumer list -n "" -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.check(cmd); err != nil {
				return err
			}
			cfg, pool, err := s.connectToList(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			return s.printPage(cmd, pool, listing{
				what: "list consumers",
				sql: `select c.namespace, c.name, c.kind, c.state, c.patterns, c.queue_name, c.max_in_flight, c.created_at
				   from core.consumers c where $1::text = '' or c.namespace = $1::text`,
				shown: `select p.namespace, p.name, p.kind, p.state, p.patterns, p.queue_name, m.queue_length, m.in_flight, m.parked, p.max_in_flight, p.created_at
				   from p ` + queueCounts,
				args: []any{cfg.Namespace},
				names: []string{
					"namespace", "name", "kind", "state", "patterns", "queue_name", "queue_length", "in_flight", "parked", "max_in_flight", "created_at",
				},
				keys: []key{{"namespace", "text"}, {"name", "text"}},
			}, p)
		},
	}
	p.add(cmd)
	return cmd
}
