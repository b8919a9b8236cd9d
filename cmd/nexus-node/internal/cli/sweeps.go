package cli

import "github.com/spf13/cobra"

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
			if err := p.check(cmd); err != nil {
				return err
			}
			_, pool, err := s.connectToList(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			return s.printPage(cmd, pool, listing{
				what:  "list sweeps",
				sql:   `select name, every, driven_by, enabled, overdue, last_ok_at, last_ms, failures, last_error from core.sweep_status`,
				names: []string{"name", "every", "driven_by", "enabled", "overdue", "last_ok_at", "last_ms", "failures", "last_error"},
				keys:  []key{{"name", "text"}},
			}, p)
		},
	}
	p.add(cmd)
	return cmd
}
