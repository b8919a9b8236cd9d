package cli

import (
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/readmodel"
)

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
			return s.list(cmd, p, readmodel.Nodes)
		},
	}
	p.add(cmd)
	return cmd
}
