package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/cmd/nexus-node/internal/app"
	"github.com/nexuspg/nexus/migrate"
	"github.com/nexuspg/nexus/operate"
)

func newMigrate(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:   "migrate",
		Short: "Install the schema, bring it up to date, or see what that would do",
		Long: `Install the schema of Nexus or bring it up to date. The login is a superuser, or a role with CREATEROLE and CREATE on
the database. Everything happens in one transaction, may be done again, and by many at once.`,
		Example: "  nexus-node migrate up",
	}, newMigrateUp(s), newMigrateStatus(s), newMigratePlan(s), newMigrateDump(s))
}

// installFlags are the flags of the commands that decide what to apply.
type installFlags struct {
	pgmq   string
	repair bool
	trust  []string
}

func (i *installFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&i.pgmq, "pgmq-sql", "", "pgmq.sql of a pgmq release, for a server that has no such extension")
	cmd.Flags().StringSliceVar(&i.trust, "trust", nil, "roles that may own schemas of extensions, create in them or be members of nexus_owner; remembered")
	cmd.Flags().BoolVar(&i.repair, "repair", false, "also every function, view and grant that was edited by hand")
}

// run gives do a connection, and what the flags ask for.
func (i *installFlags) run(s *session, cmd *cobra.Command, do func(c *client, opts *migrate.Options) error) error {
	opts := &migrate.Options{Repair: i.repair, Trust: i.trust}
	if i.pgmq != "" {
		f, err := os.Open(i.pgmq)
		if err != nil {
			return fmt.Errorf("--pgmq-sql: %w", err)
		}
		defer func() { _ = f.Close() }()
		opts.PgmqSQL = f
	}
	return s.connected(cmd, func(c *client) error { return do(c, opts) })
}

func newMigrateUp(s *session) *cobra.Command {
	var (
		flags   installFlags
		verbose bool
	)
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Install the schema or bring it up to date",
		Example: `  nexus-node migrate up
  nexus-node migrate up --pgmq-sql pgmq.sql`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.run(s, cmd, func(c *client, opts *migrate.Options) error {
				// Progress goes where logs go, so that stdout holds the result alone.
				opts.Logger = app.Slog(app.Logger(s.Stderr, either(verbose, "debug", c.cfg.LogLevel)))
				report, err := migrate.Up(cmd.Context(), c.pool, opts)
				if err != nil {
					return err
				}
				if err := storeSettings(c); err != nil {
					return err
				}
				return s.printReport(report, "applied", verbose)
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "say each step, as it is taken and at the end")
	return cmd
}

// storeSettings has the database keep what the environment says of it, since pg_cron sees no environment.
func storeSettings(c *client) error {
	const day = 24 * time.Hour
	given := operate.Settings{
		MaxTriggerDepth: c.cfg.MaxTriggerDepth,
		TriggerRetry: nexus.RetryPolicy{
			MaxAttempts: c.cfg.TriggerRetryMaxAttempts, Shape: nexus.Shape(c.cfg.TriggerRetryBackoff), Base: time.Duration(c.cfg.TriggerRetryBaseMs) * time.Millisecond,
		},
		DeadLetterRetention: time.Duration(c.cfg.DeadLetterRetentionDays) * day,
		AbandonedRetention:  time.Duration(c.cfg.AbandonedExecutionsRetentionDays) * day,
	}
	if given == (operate.Settings{}) {
		return nil
	}
	return operate.AlterSettings(c.ctx(), c.pool, given)
}

func newMigrateStatus(s *session) *cobra.Command {
	var verbose bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Tell how the database and this program differ",
		Long: `Tell which version the schema has, what "migrate up" would apply, what was edited by hand and what is missing. Exit
code 1 if there is something to apply or something was edited.`,
		Example: "  nexus-node migrate status -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.connected(cmd, func(c *client) error {
				report, err := migrate.Status(cmd.Context(), c.pool)
				if err != nil {
					return err
				}
				if err := s.printReport(report, "to apply", verbose); err != nil {
					return err
				}
				if report.Version != report.Want || len(report.Applied)+len(report.Drift)+len(report.Unsafe)+len(report.Distrusted)+len(report.Gone) > 0 {
					return verdict(exitFailed)
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "name each step")
	return cmd
}

func newMigratePlan(s *session) *cobra.Command {
	var flags installFlags
	cmd := &cobra.Command{
		Use:   "plan",
		Short: `Print the SQL that "migrate up" would run here, for psql`,
		Example: `  nexus-node migrate plan > upgrade.sql
  psql -X -v ON_ERROR_STOP=1 -f upgrade.sql`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.run(s, cmd, func(c *client, opts *migrate.Options) error {
				return migrate.Plan(cmd.Context(), c.pool, s.Stdout, opts)
			})
		},
	}
	flags.add(cmd)
	return cmd
}

func newMigrateDump(s *session) *cobra.Command {
	var from int
	cmd := &cobra.Command{
		Use:   "dump",
		Short: "Print the SQL from one schema version to that of this program, without a database",
		Example: `  nexus-node migrate dump > install.sql
  nexus-node migrate dump --from 3 > upgrade.sql`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return migrate.Dump(s.Stdout, from) },
	}
	cmd.Flags().IntVar(&from, "from", 0, "the version that the database has; 0: none")
	return cmd
}

// printReport prints what the database has against what this program brings; applied names the list of steps, which is summed up unless all are
// asked for.
func (s *session) printReport(r *migrate.Report, applied string, all bool) error {
	if s.format == asJSON {
		return s.printJSON(map[string]any{
			"version": r.Version, "want": r.Want, strings.ReplaceAll(applied, " ", "_"): list(r.Applied),
			"drift": list(r.Drift), "unsafe": list(r.Unsafe), "gone": list(r.Gone), "distrusted": list(r.Distrusted), "orphans": list(r.Orphans), "missing": list(r.Missing),
		})
	}
	steps := r.Applied
	if !all {
		steps = summary(steps)
	}
	names := []string{"version", "want"}
	values := []string{strconv.Itoa(r.Version), strconv.Itoa(r.Want)}
	for _, l := range []struct {
		name  string
		lines []string
	}{{applied, steps}, {"edited", r.Drift}, {"unsafe", r.Unsafe}, {"gone", r.Gone}, {"distrusted", r.Distrusted}, {"orphan", r.Orphans}, {"missing", r.Missing}} {
		for _, line := range l.lines {
			names, values = append(names, l.name), append(values, line)
		}
	}
	return s.printFields(names, values)
}

// list is never null in JSON.
func list(lines []string) []string {
	if lines == nil {
		return []string{}
	}
	return lines
}
