package cli

import (
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/readmodel"
)

func newSweeps(s *session) *cobra.Command {
	var p page
	cmd := &cobra.Command{
		Use:   "sweeps",
		Short: "List the pieces of upkeep: when each last ran, how long it took, and why it failed",
		Long: `List the sweeps, the pieces of upkeep that core.tick() runs for the whole database: how often each is due, whether pg_cron or the nodes
drive it, when it last ran well, and why it did not. One that is overdue or fails is a finding of nexus-node doctor.`,
		Example: "  nexus-node sweeps",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.list(cmd, p, func(string) readmodel.List { return readmodel.Sweeps() })
		},
	}
	p.add(cmd)
	return cmd
}
