package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/app"
	"github.com/nexuspg/nexus/internal/doctor"
)

func newDoctor(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Look the database over: what is wrong, why it matters, and the line that mends it",
		Long: `Look the database over. Each check says what it found; where that is not well, also why it matters and which line
mends it. It reads only, as the login of NEXUS_DATABASE_URL; what that login may not see is left out and said.

Exit code 0: all is well, 1: warnings, 2: something is broken.`,
		Example: `  nexus-node doctor
  nexus-node doctor -o json | jq '.[] | select(.state != "ok")'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := s.load(cmd)
			if err != nil {
				return err
			}
			// No first connection here: that there is none is what the doctor has to say.
			pool, err := app.Pool(cmd.Context(), cfg, app.PoolOptions{Application: applicationName(cmd), MaxConns: 2})
			if err != nil {
				return err
			}
			defer pool.Close()
			checks, err := doctor.Run(cmd.Context(), pool)
			if err != nil {
				return err
			}
			if err := s.printChecks(checks); err != nil {
				return err
			}
			switch doctor.Worst(checks) {
			case doctor.Warn:
				return verdict(exitFailed)
			case doctor.Broken:
				return verdict(exitUsage)
			}
			return nil
		},
	}
}

// printChecks prints a line a check, and two more under one that is not well. They are never cut: the mending line is there
// to be copied.
func (s *session) printChecks(checks []doctor.Check) error {
	if s.format == asJSON {
		return s.printJSON(checks)
	}
	width := 0
	for _, c := range checks {
		width = max(width, len(c.Name))
	}
	for _, c := range checks {
		_, err := fmt.Fprintf(s.Stdout, "%-6s  %-*s  %s\n", c.State, width, c.Name, printable(c.Found))
		if err != nil {
			return err
		}
		if c.State == doctor.OK {
			continue
		}
		fmt.Fprintf(s.Stdout, "        why:   %s\n", c.Why)
		if c.Mend != "" {
			fmt.Fprintf(s.Stdout, "        mend:  %s\n", printable(c.Mend))
		}
	}
	return nil
}
