package cli

import (
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/readmodel"
)

func newNamespaceShow(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "Show one namespace whole: its options, queues and grants",
		Example: "  nexus-node namespace show shop -o json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.connected(cmd, func(c *client) error {
				missing := &notFound{"there is no namespace " + quote(args[0]) + " that you may see", "nexus-node namespace list"}
				return c.show("show namespace", missing, readmodel.Namespace, args[0])
			})
		},
	}
}
