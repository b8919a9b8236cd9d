package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/operate"
)

func newNodeDrain(s *session) *cobra.Command {
	var (
		note   string
		wait   time.Duration
		dryRun bool
	)
	cmd := &cobra.Command{
		Use:   "drain ID",
		Short: "Ask a node to drain and end, as by SIGTERM",
		Long: `Ask a node to drain: it claims no more, finishes what runs within its grace time, gives back the rest and ends with exit
code 0. Whoever started its process may start it again. The node hears it at once, behind a transaction-mode pooler with its
next heartbeat.

--wait waits until it has stopped; if it has not by then, the exit code is 1.`,
		Example: `  nexus-node node drain shop-1 --note "deploy 4711" --wait 1m
  nexus-node node drain shop-1 --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.connected(cmd, func(c *client) error {
				if err := c.ownsNode(args[0]); err != nil {
					return err
				}
				var asked bool
				err := c.change(dryRun, func(q nexus.DBTX) (err error) {
					asked, err = operate.DrainNode(c.ctx(), q, args[0], note)
					return err
				})
				if err != nil {
					return err
				}
				if !asked || dryRun || wait == 0 {
					return s.printDone(deed{"node", args[0], either(asked, would(dryRun, "asked to drain"), "is not running"), dryRun})
				}
				state, err := c.waitStopped(args[0], wait)
				if err != nil {
					return err
				}
				if err := s.printDone(deed{kind: "node", name: args[0], state: state}); err != nil || state == "stopped" {
					return err
				}
				return verdict(exitFailed)
			})
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "why; kept in core.audit_log")
	cmd.Flags().DurationVar(&wait, "wait", 0, "wait so long for it to have stopped")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be done")
	return cmd
}

// ownsNode refuses a node of another namespace than the command's: ids that come from host names look alike. Whether there is such
// a node at all is for the function to say.
func (c *client) ownsNode(id string) error {
	var other bool
	namespace := c.cfg.Namespace
	err := db.Call(c.ctx(), c.pool, "find node", "select exists (select from core.node_status where node_id = $1::text and namespace <> $2::text) and $2::text <> ''",
		[]any{id, namespace}, &other)
	if err != nil || !other {
		return err
	}
	return &nexus.Error{
		Op: "find node", Code: nexus.CodeNoNode, Field: "ID",
		Message: fmt.Sprintf("namespace %q has no node %q", namespace, id),
		Hint:    `nexus-node node list -n "" shows all nodes.`,
	}
}

func either[T any](cond bool, yes, no T) T {
	if cond {
		return yes
	}
	return no
}

// waitStopped looks until the node is stopped or lost, or the time is over, and returns its state.
func (c *client) waitStopped(id string, wait time.Duration) (state string, err error) {
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := db.Call(c.ctx(), c.pool, "node state",
			"select coalesce((select state from core.node_status where node_id = $1::text), 'stopped')", []any{id}, &state)
		if err != nil || state == "stopped" || state == "lost" {
			return state, err
		}
		select {
		case <-c.ctx().Done():
			return state, c.ctx().Err()
		case <-deadline.C:
			return state, nil
		case <-tick.C:
		}
	}
}

func newNodeForget(s *session) *cobra.Command {
	var (
		note   string
		dryRun bool
	)
	cmd := &cobra.Command{
		Use:   "forget ID",
		Short: "Count a killed node as lost at once, so that its id is free; take a lost one off the list",
		Long: `Count a node that was killed as lost now, not only after three missed heartbeats, so that another process may take its id.
What it had claimed comes back when the leases end. If it lives nevertheless, it registers anew with its next heartbeat, and
ends if its id is taken by then.

One that is lost already is taken off the list, where it would stay for seven days and be named by doctor.`,
		Example: `  nexus-node node forget shop-1 --note "host is gone"
  nexus-node node forget shop-1 --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.connected(cmd, func(c *client) error {
				if err := c.ownsNode(args[0]); err != nil {
					return err
				}
				var forgotten, lost bool
				forget := func(q nexus.DBTX) (err error) {
					if forgotten, err = operate.ForgetNode(c.ctx(), q, args[0], note); err != nil {
						return err
					}
					return db.Call(c.ctx(), q, "node state", "select exists (select from core.node_status where node_id = $1::text)", []any{args[0]}, &lost)
				}
				if err := c.change(dryRun, forget); err != nil {
					return err
				}
				return s.printDone(deed{"node", args[0], either(forgotten, would(dryRun, either(lost, "lost", "forgotten")), "is not running"), dryRun})
			})
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "why; kept in core.audit_log")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be done")
	return cmd
}
