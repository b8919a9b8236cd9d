package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/queue"
)

func newNamespaceAlter(s *session) *cobra.Command {
	var (
		flags    namespaceFlags
		restrict onOff
	)
	cmd := &cobra.Command{
		Use:   "alter NAME",
		Short: "Change options of a namespace; those that are not given stay as they are",
		Long: `Change options of a namespace; those that are not given stay as they are, also of --max-attempts and --retry-…. --metadata replaces
the object.`,
		Example: `  nexus-node namespace alter shop --dedupe-for 72h
  nexus-node namespace alter shop --restricted on`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := false
			cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { given = given || f.Changed })
			if !given {
				return usage(cmd, "nothing says what to change: give an option")
			}
			opts := flags.options()
			opts.Restricted = queue.Switch(restrict)
			return s.connected(cmd, func(c *client) error {
				if err := queue.AlterNamespace(cmd.Context(), c.pool, nexus.Namespace(args[0]), opts); err != nil {
					return err
				}
				return s.printDone(deed{kind: "namespace", name: args[0], state: "altered"})
			})
		},
	}
	flags.add(cmd, false)
	cmd.Flags().Var(&restrict, "restricted", "on: only roles that the namespace is granted to may use it")
	return cmd
}
