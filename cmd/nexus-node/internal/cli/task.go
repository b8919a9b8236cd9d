package cli

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/readmodel"
	"github.com/nexuspg/nexus/schedule"
)

func newTask(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "task",
		Short:   "Schedule recurring tasks, look at them and their slots, pause, run, backfill and delete them, or apply a file of them",
		Example: "  nexus-node task list -n shop",
	}, newTaskSchedule(s), newTaskList(s), newTaskShow(s), newTaskHistory(s), newTaskNextRuns(s),
		newTaskVerb(s, "pause", "", "Stop a task from firing until it is resumed; a slot that is due is skipped", "paused", schedule.PauseTask),
		newTaskVerb(s, "resume", "", "Let a paused task fire again, from its next slot on", "resumed", schedule.ResumeTask),
		newTaskVerb(s, "run-now", "run", "Emit the task's event now, once more than its schedule says", "run", schedule.RunTaskNow),
		newTaskBackfill(s), newTaskDelete(s), newTaskApply(s))
}

func newTaskSchedule(s *session) *cobra.Command {
	var (
		task         schedule.Task
		file         string
		starts, ends string
	)
	cmd := &cobra.Command{
		Use:     "schedule NAME CRON TYPE [PAYLOAD]",
		Aliases: []string{"add"},
		Short:   "Create a task, or give the one of that name these settings",
		Long: `Create a task of the namespace, or give the one of that name these settings: what is left out takes its default. CRON is one
argument: five fields (minute, hour, day, month, weekday), @hourly to @yearly, or "@every 90s". At each slot an event of TYPE is emitted.
The payload is given as in emit. A task that a file or a program declared belongs to its owner and is refused here.`,
		Example: `  nexus-node task schedule -n shop close-day '30 2 * * *' day.closed --timezone Europe/Berlin
  nexus-node task schedule -n shop ping '@every 90s' bank.polled '{"bank": 1}' --jitter 10s`,
		Args: cobra.RangeArgs(3, 4),
		RunE: func(cmd *cobra.Command, args []string) error {
			task.Name, task.Cron, task.Type = args[0], args[1], args[2]
			var err error
			if task.Payload, err = s.payload(cmd, args[3:], file); err != nil {
				return err
			}
			if task.StartsAt, err = timeFlag(cmd, "starts-at", starts); err != nil {
				return err
			}
			if task.EndsAt, err = timeFlag(cmd, "ends-at", ends); err != nil {
				return err
			}
			return s.inNamespace(cmd, func(c *client) error {
				task.Namespace = c.namespace()
				if _, err := schedule.ScheduleTask(cmd.Context(), c.pool, task); err != nil {
					return err
				}
				return s.printDone(deed{kind: "task", name: task.Name, state: "scheduled"})
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "file", "f", "", `read the payload from this file; "-" is stdin`)
	f.StringVar(&task.Zone, "timezone", "", `an IANA name, such as "Europe/Berlin" (default UTC)`)
	f.StringVar((*string)(&task.Misfire), "misfire", "", "what becomes of missed slots: skip, fire_once or backfill (default fire_once)")
	f.DurationVar(&task.MisfireAfter, "misfire-after", 0, "slots no older than this are late, not missed (default 2m)")
	f.IntVar(&task.Backfill, "backfill", 0, "most slots that --misfire backfill catches up (default 100)")
	f.StringVar((*string)(&task.Overlap), "overlap", "", "while the event before, or the run that a trigger started for it, is under way: allow, skip or queue_one (default allow; skip for @every)")
	f.DurationVar(&task.Jitter, "jitter", 0, "fire up to this much after the slot")
	f.StringVar(&starts, "starts-at", "", "no slot before this time, RFC 3339")
	f.StringVar(&ends, "ends-at", "", "no slot after this time, RFC 3339")
	return cmd
}

func newTaskList(s *session) *cobra.Command {
	var (
		owner string
		p     page
	)
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List recurring tasks: what comes next and how the last slot went",
		Example: `  nexus-node task list -n shop
  nexus-node task list -n "" --owner billing -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.list(cmd, p, func(namespace string) readmodel.List { return readmodel.Tasks(namespace, owner) })
		},
	}
	p.add(cmd)
	cmd.Flags().StringVar(&owner, "owner", "", "only those that this owner declared")
	return cmd
}

func newTaskNextRuns(s *session) *cobra.Command {
	var (
		expression, zone, from string
		count                  int
	)
	cmd := &cobra.Command{
		Use:   "next-runs NAME",
		Short: "Show when a task, or an expression, runs next",
		Long: `Show the next slots of a task, within its bounds and also while it is paused, or, with --cron in place of NAME, of any expression.
They are computed by what fires them, in UTC and as the clock of the time zone shows them.`,
		Example: `  nexus-node task next-runs -n shop close-day
  nexus-node task next-runs --cron '30 2 * * *' --timezone Europe/Berlin --from 2026-03-27T00:00:00Z --count 3`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (expression != "") {
				return usage(cmd, "give a task's name, or an expression by --cron")
			}
			if len(args) == 1 && cmd.Flags().Changed("timezone") {
				return usage(cmd, "--timezone goes with --cron: a task has its own")
			}
			after, err := timeFlag(cmd, "from", from)
			if err != nil {
				return err
			}
			return s.connected(cmd, func(c *client) error {
				sql, of := readmodel.NextRuns, []any{expression, zone}
				if len(args) == 1 {
					if _, err := c.taskID(args[0]); err != nil {
						return err
					}
					sql, of = readmodel.NextRunsOfTask, []any{c.cfg.Namespace, args[0]}
				}
				records, err := c.read("next runs", sql, append(of, timeOrNull(after), count)...)
				if err != nil {
					return err
				}
				return s.printRecords([]string{"slot", "local_time", "timezone"}, records)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&expression, "cron", "", "a cron expression or @every interval in place of a task")
	f.StringVar(&zone, "timezone", "UTC", "of --cron")
	f.StringVar(&from, "from", "", "slots after this time, RFC 3339 (default now)")
	f.IntVar(&count, "count", 5, "how many, at most 1000")
	return cmd
}

// newTaskVerb is a command that does one thing to the task it is given.
func newTaskVerb(
	s *session, verb, alias, short, state string, do func(context.Context, nexus.DBTX, nexus.Namespace, string) error,
) *cobra.Command {
	cmd := &cobra.Command{
		Use:     verb + " NAME",
		Short:   short,
		Example: "  nexus-node task " + verb + " -n shop close-day",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				if err := do(cmd.Context(), c.pool, c.namespace(), args[0]); err != nil {
					return err
				}
				return s.printDone(deed{kind: "task", name: args[0], state: state})
			})
		},
	}
	if alias != "" {
		cmd.Aliases = []string{alias}
	}
	return cmd
}

func newTaskDelete(s *session) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:     "delete NAME",
		Aliases: []string{"rm"},
		Short:   "Delete a task; what became of its slots stays for a week",
		Example: "  nexus-node task delete -n shop close-day --dry-run",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				remove := func(q nexus.DBTX) error {
					return schedule.DeleteTask(cmd.Context(), q, c.namespace(), args[0])
				}
				if err := c.change(dryRun, remove); err != nil {
					return err
				}
				return s.printDone(deed{"task", args[0], would(dryRun, "deleted"), dryRun})
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "do it, say what happened, and roll back")
	return cmd
}

func newTaskApply(s *session) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Make the tasks of an owner those of a file",
		Long: `Make the tasks of an owner those of a file, all or none, and print what that changed. FILE is YAML or JSON, "-" is stdin. Its owner
names the deployment: tasks of that owner that the file does not have are deleted, all others are left alone. Paused tasks stay paused.`,
		Example: `  nexus-node task apply tasks.yaml --dry-run
  nexus-node task apply tasks.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, read := args[0], func() ([]byte, error) { return os.ReadFile(args[0]) }
			if name == "-" {
				name, read = "stdin", func() ([]byte, error) { return io.ReadAll(s.Stdin) }
			}
			text, err := read()
			if err != nil {
				return usage(cmd, err.Error())
			}
			return s.connected(cmd, func(c *client) error {
				declared, lines, err := readTaskFile(name, text, c.cfg.Namespace)
				if err != nil {
					return err
				}
				changes, err := declared.Apply(cmd.Context(), c.pool, dryRun)
				if err != nil {
					return atLine(err, name, lines)
				}
				return s.printChanges(changes, dryRun)
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "do it, say what changed, and undo it")
	return cmd
}

func (s *session) printChanges(changes []schedule.Change, dry bool) error {
	if s.format == asJSON {
		type change struct {
			Task   string `json:"task"`
			Action string `json:"action"`
			Field  string `json:"field,omitempty"`
			From   string `json:"from,omitempty"`
			To     string `json:"to,omitempty"`
			DryRun bool   `json:"dry_run,omitempty"`
		}
		out := make([]change, len(changes))
		for i, c := range changes {
			out[i] = change{c.Task, c.Action, c.Field, c.From, c.To, dry}
		}
		return s.printJSON(out)
	}
	rows := make([][]string, len(changes))
	for i, c := range changes {
		rows[i] = []string{c.Task, c.Action, c.Field, c.From, c.To}
	}
	return s.printTable([]string{"task", either(dry, "would", "action"), "field", "from", "to"}, rows)
}
