package cli

import (
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/readmodel"
	"github.com/nexuspg/nexus/queue"
)

func newNamespace(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "namespace",
		Aliases: []string{"ns"},
		Short:   "Create, list, show, alter, grant and drop namespaces",
		Example: "  nexus-node namespace create shop",
	}, newNamespaceCreate(s), newNamespaceList(s), newNamespaceShow(s), newNamespaceAlter(s),
		newNamespaceGrant(s), newNamespaceRevoke(s), newNamespaceDrop(s))
}

func newNamespaceCreate(s *session) *cobra.Command {
	var (
		flags    namespaceFlags
		restrict bool
	)
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a namespace with its queues; done again it changes nothing",
		Example: `  nexus-node namespace create shop
  nexus-node namespace create shop --max-attempts 5 --retry-base 2s --dedupe-for 72h --metadata '{"team": "orders"}'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts := flags.options()
			if restrict {
				opts.Restricted = queue.On
			}
			return s.connected(cmd, func(c *client) error {
				made, err := queue.EnsureNamespace(cmd.Context(), c.pool, nexus.Namespace(args[0]), opts)
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "namespace", name: args[0], state: either(made, "created", "exists")})
			})
		},
	}
	flags.add(cmd, true)
	cmd.Flags().BoolVar(&restrict, "restricted", false, "only roles that the namespace is granted to may use it")
	return cmd
}

func newNamespaceList(s *session) *cobra.Command {
	var p page
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the namespaces that you may see",
		Example: "  nexus-node namespace list -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.check(cmd); err != nil {
				return err
			}
			return s.connected(cmd, func(c *client) error {
				// The namespace of the environment is for what is in one; only -n picks one here.
				if err := c.sees(s.namespace); err != nil {
					return err
				}
				return c.printPage(readmodel.Namespaces(s.namespace), p)
			})
		},
	}
	p.add(cmd)
	return cmd
}

func newNamespaceDrop(s *session) *cobra.Command {
	var (
		confirm       string
		force, dryRun bool
	)
	cmd := &cobra.Command{
		Use:     "drop NAME --confirm NAME",
		Aliases: []string{"rm"},
		Short:   "Drop a namespace with its queues",
		Long: `Drop a namespace with its queues. The name is asked for twice, so that a line from the shell's history does not
drop the wrong one. While events are undelivered it is refused, unless --force says to lose them.

--dry-run drops it in a transaction and rolls that back: it is refused for the same reasons as the real thing.`,
		Example: `  nexus-node namespace drop shop --confirm shop --dry-run
  nexus-node namespace drop shop --confirm shop`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.connected(cmd, func(c *client) error {
				drop := func(q nexus.DBTX) error {
					return queue.DropNamespace(cmd.Context(), q, nexus.Namespace(args[0]), nexus.Namespace(confirm), force)
				}
				if err := c.change(dryRun, drop); err != nil {
					return err
				}
				return s.printDone(deed{"namespace", args[0], would(dryRun, "dropped"), dryRun})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&confirm, "confirm", "", "the namespace's name once more")
	f.BoolVar(&force, "force", false, "drop it although events are undelivered, and lose them")
	f.BoolVar(&dryRun, "dry-run", false, "do it, say what happened, and roll back")
	return cmd
}
