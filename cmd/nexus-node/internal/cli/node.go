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
	var p page
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the nodes of the namespace, or of all, with their state and last heartbeat",
		Example: `  nexus-node node list -n shop
  nexus-node node list -n ""`,
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
				what: "list nodes",
				sql: `select node_id, namespace, state, alive, version, registered_at, last_heartbeat
				   from core.node_status
				  where $1::text = '' or namespace = $1::text`,
				args:  []any{cfg.Namespace},
				names: []string{"node_id", "namespace", "state", "alive", "version", "registered_at", "last_heartbeat"},
				keys:  []key{{"namespace", "text"}, {"node_id", "text"}},
			}, p)
		},
	}
	p.add(cmd)
	return cmd
}
