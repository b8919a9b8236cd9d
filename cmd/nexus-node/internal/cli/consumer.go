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
	return s.newList(
		"List the consumers of the namespace, or of all, with what they take and how long their queues are", `  nexus-node consumer list -n shop
  nexus-node consumer list -n "" -o json`,
		readmodel.Consumers)
}
