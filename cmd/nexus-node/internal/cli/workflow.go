package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/readmodel"
	"github.com/nexuspg/nexus/workflow"
)

func newWorkflow(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "workflow",
		Aliases: []string{"wf"},
		Short:   "Start runs of workflows, look at them, signal, cancel, retry and fork them",
		Example: "  nexus-node workflow list -n shop --status failed",
	}, newWorkflowList(s), newWorkflowShow(s), newWorkflowDefinitions(s), newWorkflowStart(s), newWorkflowSignal(s), newWorkflowCancel(s),
		newWorkflowRetry(s), newWorkflowAccept(s), newWorkflowFork(s))
}

func newWorkflowList(s *session) *cobra.Command {
	var (
		f     readmodel.RunFilter
		since string
		p     page
	)
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List runs, the newest first, with the step at which a run failed and why",
		Example: `  nexus-node workflow list -n shop --status compensation_failed
  nexus-node workflow list -n shop --workflow order --tag vip --since 24h -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			begin, err := sinceFlag(cmd, since, time.Now())
			err = cmp.Or(err, oneOf(cmd, "status", f.Status, "pending", "running", "waiting", "compensating", "completed", "failed", "compensation_failed",
				"cancelled", "timed_out"))
			if err != nil {
				return err
			}
			f.Since = begin
			return s.list(cmd, p, func(namespace string) readmodel.List {
				f.Namespace = namespace
				return readmodel.Runs(f)
			})
		},
	}
	cmd.Flags().StringVar(&f.Status, "status", "", "pending, running, waiting, compensating, completed, failed, compensation_failed, cancelled or timed_out")
	cmd.Flags().StringVar(&f.Workflow, "workflow", "", "only of this workflow")
	cmd.Flags().StringVar(&f.Tag, "tag", "", "only with this tag")
	cmd.Flags().StringVar(&since, "since", "", "only what was started at or after this time, RFC 3339, or this long ago: 24h")
	p.add(cmd)
	return cmd
}

// runID is the argument RUN.
func runID(cmd *cobra.Command, arg string) (uuid.UUID, error) {
	return uuidArg(cmd, "the id of a run", arg)
}

func noRun(id uuid.UUID) error {
	return &notFound{"no run " + id.String() + " that you may see", "nexus-node workflow list"}
}

func newWorkflowShow(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "show RUN",
		Short: "Show a run whole: what it is, its steps as a tree with its children, and what it waits for",
		Example: `  nexus-node workflow show 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55
  nexus-node workflow show 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55 -o json | jq '.steps[] | select(.status == "failed")'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := runID(cmd, args[0])
			if err != nil {
				return err
			}
			return s.connected(cmd, func(c *client) error { return c.showRun(id) })
		},
	}
}

func (c *client) showRun(id uuid.UUID) error {
	parts := map[string][]readmodel.Record{}
	for name, sql := range map[string]string{"run": readmodel.Run, "steps": readmodel.RunTree, "waits": readmodel.RunWaits} {
		records, err := c.read("show run", sql, id.String())
		if err != nil {
			return err
		}
		parts[name] = records
	}
	if len(parts["run"]) == 0 {
		return noRun(id)
	}
	if c.format == asJSON {
		return c.printJSON(map[string]any{"run": parts["run"][0], "steps": parts["steps"], "waits": parts["waits"]})
	}
	if err := c.printRecord(parts["run"][0]); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(c.Stdout); err != nil {
		return err
	}
	if err := c.printRecords([]string{"step", "kind", "status", "attempts", "completed_at", "result", "error"}, parts["steps"]); err != nil || len(parts["waits"]) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(c.Stdout); err != nil {
		return err
	}
	return c.printRecords([]string{"path", "waits_for", "key", "signal", "due_at", "attempt", "deaths", "branches", "node_id", "why"}, parts["waits"])
}

func newWorkflowDefinitions(s *session) *cobra.Command {
	var p page
	cmd := &cobra.Command{
		Use:   "definitions",
		Short: "List the workflows that nodes have registered, with the nodes that have them and the runs that have not ended",
		Example: `  nexus-node workflow definitions -n shop
  nexus-node workflow definitions -n "" -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.list(cmd, p, readmodel.WorkflowDefinitions) },
	}
	p.add(cmd)
	return cmd
}

func newWorkflowStart(s *session) *cobra.Command {
	var (
		opts workflow.StartOptions
		file string
	)
	cmd := &cobra.Command{
		Use:   "start WORKFLOW [PAYLOAD]",
		Short: "Start a run; its id is printed",
		Long: `Start a run of a workflow that a node has registered; its id is printed. The payload is the input, in JSON: the second argument, or a
file, or, where either is "-", what comes on stdin. Without one it is {}.`,
		Example: `  nexus-node workflow start -n shop order '{"sku": "tea"}' --idempotency-key order-7
  nexus-node workflow start -n shop close-day --delay 2h --tag nightly`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("timeout") && opts.Timeout <= 0 {
				return usage(cmd, "--timeout is "+opts.Timeout.String()+"; it takes 1ms or more, or is left out")
			}
			body, err := s.bytes(cmd, "the payload", args[1:], file)
			if err != nil {
				return err
			}
			return s.inNamespace(cmd, func(c *client) error {
				id, started, err := workflow.StartNamed(c.ctx(), c.pool, c.namespace(), args[0], json.RawMessage(body), &opts)
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "run_id", name: id.String(), state: either(started, "started", "was there")})
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "file", "f", "", `read the payload from this file; "-" is stdin`)
	f.StringVar(&opts.IdempotencyKey, "idempotency-key", "", "a second start with it is the first one's run")
	f.StringArrayVar(&opts.Tags, "tag", nil, "a tag to find it by; may be repeated")
	f.DurationVar(&opts.Delay, "delay", 0, "before the first step: 90s, 2h")
	f.DurationVar(&opts.Timeout, "timeout", 0, "after which the run ends as timed_out, and is undone")
	f.StringVar(&opts.CorrelationID, "correlation-id", "", "what the run belongs to")
	return cmd
}

// answered prints an outcome. Only the one that was wished for exits with 0.
func (s *session) answered(id uuid.UUID, outcome, wished workflow.Outcome, dry bool) error {
	state := string(outcome)
	if outcome == wished {
		state = would(dry, state)
	}
	if err := s.printDone(deed{"run_id", id.String(), state, dry}); err != nil {
		return err
	}
	switch outcome {
	case workflow.Compensating:
		return fmt.Errorf("run %s is being undone; --no-compensation gives that up", id)
	case workflow.AlreadyFinished:
		return fmt.Errorf("run %s has ended", id)
	case workflow.NotFound:
		return noRun(id)
	}
	return nil
}

func newWorkflowSignal(s *session) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "signal RUN NAME [PAYLOAD]",
		Short: "Send a signal to a run",
		Long: `Send a signal to a run. "stored" says that it is kept until a step takes it, not that one has. The payload is JSON: the third argument,
or a file, or, where either is "-", what comes on stdin. Without one it is null.`,
		Example: `  nexus-node workflow signal 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55 approved '{"by": "ann"}'`,
		Args:    cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := runID(cmd, args[0])
			if err != nil {
				return err
			}
			payload, err := s.payload(cmd, args[2:], file)
			if err != nil {
				return err
			}
			return s.connected(cmd, func(c *client) error {
				outcome, err := workflow.Signal(c.ctx(), c.pool, id, args[1], payload)
				if err != nil {
					return err
				}
				return s.answered(id, outcome, workflow.Stored, false)
			})
		},
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", `read the payload from this file; "-" is stdin`)
	return cmd
}

func newWorkflowCancel(s *session) *cobra.Command {
	var (
		reason        string
		plain, dryRun bool
	)
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run and its children, and undo what they did",
		Long: `End a run and its children, and undo what they did; --no-compensation leaves it. A step that a node has in hand goes on to its end
first: "cancelled" says that the run is, or will be. Only that exits with 0. With --no-compensation a run that is being undone ends as
compensation_failed, with a dead letter.

--dry-run does it in a transaction and rolls that back.`,
		Example: `  nexus-node workflow cancel 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55 --reason 'ticket 812' --dry-run
  nexus-node workflow cancel 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55 --reason 'ticket 812'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := runID(cmd, args[0])
			if err != nil {
				return err
			}
			return s.connected(cmd, func(c *client) error {
				var outcome workflow.Outcome
				err := c.change(dryRun, func(q nexus.DBTX) (err error) {
					outcome, err = workflow.Cancel(c.ctx(), q, id, !plain, reason)
					return err
				})
				if err != nil {
					return err
				}
				return s.answered(id, outcome, workflow.Cancelled, dryRun)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&reason, "reason", "", "why; the run and the audit log keep it")
	f.BoolVar(&plain, "no-compensation", false, "leave what was done")
	f.BoolVar(&dryRun, "dry-run", false, "do it, say what happened, and roll back")
	return cmd
}

func newWorkflowRetry(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "retry RUN",
		Short: "Have a run go on that has failed or is parked, or whose compensation has failed",
		Long: `Have a run go on that has failed or is parked, or whose compensation has failed. A run of which something was undone cannot go on: start
it anew.`,
		Example: "  nexus-node workflow retry 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := runID(cmd, args[0])
			if err != nil {
				return err
			}
			return s.connected(cmd, func(c *client) error {
				resumed, err := workflow.Retry(c.ctx(), c.pool, id)
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "run_id", name: id.String(), state: either(resumed, "goes on", "left as it is")})
			})
		},
	}
}

func newWorkflowAccept(s *session) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:     "accept RUN --reason WHY",
		Short:   "Say that a compensation that failed was dealt with by other means",
		Example: "  nexus-node workflow accept 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55 --reason 'refunded by hand'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := runID(cmd, args[0])
			if err != nil {
				return err
			}
			return s.connected(cmd, func(c *client) error {
				accepted, err := workflow.Accept(c.ctx(), c.pool, id, reason)
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "run_id", name: id.String(), state: either(accepted, "accepted", "left as it is")})
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; the dead letter keeps it")
	return cmd
}

func newWorkflowFork(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "fork RUN STEP",
		Short: "Start a new run from the journal of another, up to and not including a step",
		Long: `Start a new run from the journal of another, up to and not including a step: an outermost one, or one inside of a block by its key in the
journal, such as poll#3, where other branches and items keep what they have done. What it takes over it does not run again, and
never undoes. The id of the new run is printed.`,
		Example: "  nexus-node workflow fork 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55 charge",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := runID(cmd, args[0])
			if err != nil {
				return err
			}
			return s.connected(cmd, func(c *client) error {
				fork, err := workflow.Fork(c.ctx(), c.pool, id, args[1])
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "run_id", name: fork.String(), state: "started"})
			})
		},
	}
}
