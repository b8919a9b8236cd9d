package cli

import (
	"github.com/spf13/cobra"
)

func newNamespaceShow(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "Show one namespace whole: its options, queues and grants",
		Example: "  nexus-node namespace show shop -o json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, pool, err := s.connect(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			records, err := selectRecords(cmd.Context(), pool, "show namespace",
				`select n.namespace, n.created_at, n.updated_at, n.metadata, n.default_consumer, n.restricted, n.unhandled_after, n.dedupe_for,
				        n.max_payload_bytes, n.retry,
				        array(select q.queue_name from core.queues q where q.namespace = n.namespace order by 1) as queues,
				        array(select pg_catalog.json_build_object('role', g.role_name, 'duty', g.duty, 'granted_by', g.granted_by, 'granted_at', g.granted_at)
				                from core.namespace_grants g where g.namespace = n.namespace order by g.role_name, g.duty) as grants
				   from core.namespaces n where n.namespace = $1::text`, args[0])
			if err != nil {
				return err
			}
			if len(records) == 0 {
				return &notFound{"there is no namespace " + quote(args[0]) + " that you may see", "nexus-node namespace list"}
			}
			return s.printRecord(records[0])
		},
	}
}
