package cli

import (
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/cronsync"
)

func newCron(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "cron",
		Short:   "Compare pg_cron's jobs with those that Nexus wants, and mend them",
		Example: "  nexus-node cron diff",
	}, newCronDiff(s), newCronApply(s))
}

func newCronDiff(s *session) *cobra.Command {
	var p page
	cmd := &cobra.Command{
		Use:   "diff",
		Short: "Show which jobs are missing, altered, switched off, doubled, left over or somebody else's",
		Long: `Show where pg_cron's jobs are not those that tasks and the upkeep of Nexus want. Nothing is changed. pg_cron hides the jobs of
other roles from all but superusers: for anyone else a line not_visible says so.

Exit code 0: in step, as far as can be seen, 1: something is amiss.`,
		Example: `  nexus-node cron diff
  nexus-node cron diff -o json | jq '.[] | select(.kind != "not_visible")'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.check(cmd); err != nil {
				return err
			}
			return s.connected(cmd, func(c *client) error {
				// The upkeep's jobs are of no namespace, so that of the environment picks nothing here.
				if err := c.sees(s.namespace); err != nil {
					return err
				}
				drift, err := cronsync.Diff(cmd.Context(), c.pool)
				if err != nil {
					return err
				}
				if s.namespace != "" {
					drift = slices.DeleteFunc(drift, func(d cronsync.Drift) bool { return string(d.Namespace) != s.namespace })
				}
				shown := drift
				if p.limit > 0 {
					shown = drift[:min(p.limit, len(drift))]
				}
				if err := c.printDrift(shown, false); err != nil {
					return err
				}
				if left := len(drift) - len(shown); left > 0 {
					s.say(note{Text: fmt.Sprintf("%d shown, %s left; --limit 0 shows all", len(shown), thousands(left)), Shown: len(shown), Left: left})
				}
				for _, d := range drift {
					if d.Kind != cronsync.NotVisible {
						return verdict(exitFailed)
					}
				}
				return nil
			})
		},
	}
	p.addLimit(cmd)
	return cmd
}

func newCronApply(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "apply",
		Short: "Mend what diff shows, now; jobs of other roles are only named",
		Long: `Mend what cron diff shows. A sweep does the same each minute; this is for who does not want to wait. Jobs of other roles, and of a
task that somebody is changing, are named and left alone. It takes nexus_admin.

Exit code 0: whatever is Nexus's is in step, 1: a job could not be mended, or must be removed by its owner.`,
		Example: "  nexus-node cron apply -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.connected(cmd, func(c *client) error {
				done, err := cronsync.Apply(cmd.Context(), c.pool)
				if err != nil {
					return err
				}
				if err := c.printDrift(done, true); err != nil {
					return err
				}
				for _, d := range done {
					if d.Done != cronsync.Mended && d.Kind != cronsync.NotVisible {
						return verdict(exitFailed)
					}
				}
				return nil
			})
		},
	}
}

// printDrift says on stderr why there is nothing, where that is no good news.
func (c *client) printDrift(drift []cronsync.Drift, applied bool) error {
	there, err := c.read("look for pg_cron", `select 1 from pg_catalog.pg_extension where extname = 'pg_cron'`)
	if err != nil {
		return err
	}
	if len(there) == 0 {
		c.say(note{Text: "there is no pg_cron in this database: nodes fire tasks and do the upkeep"})
	}
	if c.format == asJSON {
		type row struct {
			Kind      cronsync.Kind `json:"kind"`
			JobID     *int64        `json:"jobid"`
			JobName   *string       `json:"jobname"`
			TaskID    *uuid.UUID    `json:"task_id"`
			Namespace *string       `json:"namespace"`
			Detail    string        `json:"detail"`
			Done      string        `json:"done,omitempty"`
		}
		rows := make([]row, len(drift))
		for i, d := range drift {
			rows[i] = row{d.Kind, orNull(d.JobID), orNull(d.JobName), orNull(d.TaskID), orNull(string(d.Namespace)), d.Detail, d.Done}
		}
		return c.printJSON(rows)
	}
	header := []string{"kind", "jobid", "jobname", "detail"}
	if applied {
		header = append(header, "done")
	}
	rows := make([][]string, len(drift))
	for i, d := range drift {
		id := ""
		if d.JobID != 0 {
			id = fmt.Sprint(d.JobID)
		}
		rows[i] = []string{string(d.Kind), id, d.JobName, d.Detail}
		if applied {
			rows[i] = append(rows[i], d.Done)
		}
	}
	return c.printTable(header, rows)
}

// orNull is for JSON, where what is not there is null.
func orNull[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}
