package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/app"
	"github.com/nexuspg/nexus/internal/doctor"
)

func newDoctor(s *session) *cobra.Command {
	var fix, dryRun bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look the database over: what is wrong, why it matters, and the lines that mend it",
		Long: `Look the database over. Each check says what it found; where that is not well, also why it matters and which lines
mend it, in the order to run them: SQL ends with a semicolon, a command begins with nexus-node, the rest is for you to do. "or:" begins
another way. It reads only, as the login of NEXUS_DATABASE_URL; what that login may not see is said to be unknown.

--fix runs what is safe of it: overdue and failed upkeep once more, partitions that are missing, rows in the default partition, jobs
of Nexus that pg_cron lacks, queues whose tables are missing, nodes to be counted as lost. Nothing is dropped, ended or upgraded, no edit undone. Then it looks
once more. With --dry-run it says what it would run.

docs/guides/woken-at-night.md is the page to begin with at night, and says what each check means.

Exit code 0: all is well, 1: warnings, 2: something is broken, 5: all is well as far as this login may see, which is not all; with --fix,
afterwards.`,
		Example: `  nexus-node doctor
  nexus-node doctor --fix --dry-run
  nexus-node doctor -o json | jq '.[] | select(.state != "ok")'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dryRun && !fix {
				return usage(cmd, "--dry-run says what --fix would do: give both")
			}
			cfg, err := s.load(cmd)
			if err != nil {
				return err
			}
			// No first connection here: the doctor itself says that there is none.
			pool, err := app.Pool(cmd.Context(), cfg, app.PoolOptions{Application: applicationName(cmd), MaxConns: 2})
			if err != nil {
				return err
			}
			defer pool.Close()
			checks, err := doctor.Run(cmd.Context(), pool)
			if err != nil {
				return err
			}
			if !fix {
				err = s.printChecks(checks)
			} else {
				checks, err = s.fix(cmd.Context(), pool, checks, dryRun)
			}
			if err != nil {
				return err
			}
			switch doctor.Worst(checks) {
			case doctor.Unknown:
				return verdict(exitUnknown)
			case doctor.Warn:
				return verdict(exitFailed)
			case doctor.Broken:
				return verdict(exitUsage)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "run the mends that are safe, and look again")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "with --fix: say what it would run, and run nothing")
	return cmd
}

// fix runs the safe mends, or only says which, and returns the checks as they are then.
func (s *session) fix(ctx context.Context, pool *pgxpool.Pool, checks []doctor.Check, dryRun bool) ([]doctor.Check, error) {
	fixes := doctor.Fixes(checks)
	if !dryRun {
		var err error
		if fixes, checks, err = doctor.Fix(ctx, pool, checks); err != nil {
			return nil, err
		}
	}
	if s.format == asJSON {
		return checks, s.printJSON(struct {
			Fixes  []doctor.Fixed `json:"fixes"`
			Checks []doctor.Check `json:"checks"`
			DryRun bool           `json:"dry_run,omitempty"`
		}{append([]doctor.Fixed{}, fixes...), checks, dryRun})
	}
	for _, f := range fixes {
		fmt.Fprintf(s.Stdout, "%s  %s: %s\n", fixWord(f, dryRun), f.Check, printable(f.SQL))
		if f.Error != "" {
			fmt.Fprintf(s.Stdout, "           error: %s\n", printable(f.Error))
		} else if f.Result != "" {
			fmt.Fprintf(s.Stdout, "           result: %s\n", printable(shortened(f.Result)))
		}
	}
	if len(fixes) == 0 {
		fmt.Fprintln(s.Stdout, "nothing to fix without you")
	}
	fmt.Fprintln(s.Stdout)
	return checks, s.printChecks(checks)
}

// shortened is for what a tick returns, a line for each sweep; -o json has it whole.
func shortened(s string) string {
	const most = 120
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func fixWord(f doctor.Fixed, dryRun bool) string {
	switch {
	case dryRun:
		return "would run"
	case f.Error != "":
		return "failed   "
	}
	return "ran      "
}

// printChecks prints a line a check, and more under one that is not well. They are never cut: the mending lines are there
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
		_, err := fmt.Fprintf(s.Stdout, "%-7s  %-*s  %s\n", c.State, width, c.Name, printable(c.Found))
		if err != nil {
			return err
		}
		if c.State == doctor.OK {
			continue
		}
		fmt.Fprintf(s.Stdout, "         why:   %s\n", c.Why)
		label := "mend:"
		for line := range strings.Lines(c.Mend) {
			fmt.Fprintf(s.Stdout, "         %-5s  %s\n", label, printable(strings.TrimSuffix(line, "\n")))
			label = ""
		}
	}
	return nil
}
