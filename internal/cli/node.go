package cli

import "github.com/spf13/cobra"

func newNode(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "node",
		Short:   "Look at the nodes, drain one, forget one that was killed",
		Example: "  nexus-node node list",
	}, newNodeList(s), newNodeDrain(s), newNodeForget(s))
}

func newNodeList(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the nodes of the namespace, or of all, with their state and last heartbeat",
		Example: `  nexus-node node list -n shop
  nexus-node node list -n ""`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, pool, err := s.connectToList(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			records, err := selectRecords(cmd.Context(), pool, "list nodes",
				`select node_id, namespace, state, alive, version, registered_at, last_heartbeat
				   from core.node_status
				  where $1::text = '' or namespace = $1::text
				  order by namespace, node_id`, cfg.Namespace)
			if err != nil {
				return err
			}
			return s.printRecords([]string{"node_id", "namespace", "state", "alive", "version", "registered_at", "last_heartbeat"}, records)
		},
	}
}
