package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/readmodel"
	"github.com/nexuspg/nexus/schedule"
)

func newTaskShow(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "Show one task whole: its settings, what comes next, how the last slots went, its job in pg_cron",
		Example: "  nexus-node task show -n shop close-day -o json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				return c.show("show task", noTask(args[0], c.cfg.Namespace), readmodel.Task, c.cfg.Namespace, args[0])
			})
		},
	}
}

func noTask(name, namespace string) error {
	return &notFound{fmt.Sprintf("no task %s in namespace %s that you may see", quote(name), quote(namespace)), "nexus-node task list"}
}

// taskID is that of the task of that name.
func (c *client) taskID(name string) (string, error) {
	records, err := c.read("look for the task", readmodel.TaskID, c.cfg.Namespace, name)
	if err != nil {
		return "", err
	}
	if len(records) == 0 {
		return "", noTask(name, c.cfg.Namespace)
	}
	return records[0].Texts()[0], nil
}

func newTaskHistory(s *session) *cobra.Command {
	var (
		p      page
		byHand bool
	)
	cmd := &cobra.Command{
		Use:   "history NAME",
		Short: "List what became of the slots of a task, the newest first, or who ran it by hand",
		Long: `List what became of the slots of a task, the newest first, as far as they are remembered, which is seven days: fired, caught_up (as
a misfire), skipped, waiting or missed, with the reason, how late it was, and the event. A row with "until" stands for all slots up to
that time. Runs that people asked for have no slot: --by-hand lists those.`,
		Example: `  nexus-node task history -n shop close-day
  nexus-node task history -n shop close-day --by-hand`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.check(cmd); err != nil {
				return err
			}
			return s.inNamespace(cmd, func(c *client) error {
				id, err := c.taskID(args[0])
				if err != nil {
					return err
				}
				return c.printPage(either(byHand, readmodel.TaskRuns, readmodel.TaskSlots)(id), p)
			})
		},
	}
	p.add(cmd)
	cmd.Flags().BoolVar(&byHand, "by-hand", false, "the runs that people asked for")
	return cmd
}

func newTaskBackfill(s *session) *cobra.Command {
	var (
		from, to string
		dryRun   bool
	)
	cmd := &cobra.Command{
		Use:   "backfill NAME --from TIME [--to TIME]",
		Short: "Fire the slots of a time that were missed, or that lie before the task was made",
		Long: `Fire the slots from one time up to another, at most to now and 1,000 of them, that have not fired or been skipped. Those that fired
do not fire again. The overlap policy is not asked: all their events are emitted at once.`,
		Example: `  nexus-node task backfill -n shop close-day --from 2026-11-20T00:00:00Z --dry-run
  nexus-node task backfill -n shop close-day --from 2026-11-20T00:00:00Z --to 2026-11-24T00:00:00Z`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			first, err := timeFlag(cmd, "from", from)
			if err != nil {
				return err
			}
			if first.IsZero() {
				return usage(cmd, "--from is missing: the time of the first slot, RFC 3339")
			}
			end, err := timeFlag(cmd, "to", to)
			if err != nil {
				return err
			}
			return s.inNamespace(cmd, func(c *client) error {
				if end.IsZero() {
					if end, err = readmodel.Now(c.ctx(), c.pool); err != nil {
						return err
					}
				}
				var fired int
				fill := func(q nexus.DBTX) (err error) {
					fired, err = schedule.BackfillTask(cmd.Context(), q, c.namespace(), args[0], first, end)
					return err
				}
				if err := c.change(dryRun, fill); err != nil {
					return err
				}
				return s.printBackfill(args[0], fired, dryRun)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "slots at or after this time, RFC 3339")
	f.StringVar(&to, "to", "", "slots before this time, RFC 3339 (default now)")
	f.BoolVar(&dryRun, "dry-run", false, "do it, say how many, and undo it")
	return cmd
}

func (s *session) printBackfill(task string, fired int, dry bool) error {
	if s.format == asJSON {
		out := map[string]any{"task": task, "fired": fired}
		if dry {
			out["dry_run"] = true
		}
		return s.printJSON(out)
	}
	return s.printFields([]string{"task", either(dry, "would fire", "fired")}, []string{task, thousands(fired)})
}
