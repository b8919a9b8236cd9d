package cli

import (
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/readmodel"
)

func newNode(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "node",
		Short:   "Look at the nodes and at what they have read of broadcasts, drain one, forget one that was killed",
		Example: "  nexus-node node list",
	}, newNodeList(s), newNodeCursors(s), newNodeDrain(s), newNodeForget(s))
}

func newNodeList(s *session) *cobra.Command {
	return s.newList(
		"List the nodes of the namespace, or of all, with their state and last heartbeat", `  nexus-node node list -n shop
  nexus-node node list -n ""`,
		readmodel.Nodes)
}

func newNodeCursors(s *session) *cobra.Command {
	c := s.newList(
		"List what the nodes have read of the broadcasts, what they wait for, and how their last failure was", `  nexus-node node cursors -n shop`,
		readmodel.Cursors)
	c.Use, c.Aliases = "cursors", nil
	return c
}
