package cli

import (
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/readmodel"
)

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
			return s.list(cmd, p, readmodel.Consumers)
		},
	}
	p.add(cmd)
	return cmd
}
