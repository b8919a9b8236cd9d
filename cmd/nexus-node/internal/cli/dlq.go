package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
	"github.com/nexuspg/nexus/deadletter"
	"github.com/nexuspg/nexus/internal/readmodel"
)

func newDLQ(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "dlq",
		Short:   "List, show, group, claim, replay, resolve, discard and expire dead letters",
		Example: "  nexus-node dlq list -n shop",
	}, newDLQList(s), newDLQShow(s), newDLQGroup(s), newDLQClaim(s), newDLQExtend(s), newDLQReject(s), newDLQReplay(s), newDLQResolve(s), newDLQDiscard(s), newDLQExpire(s))
}

// letterFlags are the flags that pick dead letters, with the names of the filter's keys in SQL.
type letterFlags struct {
	source, trigger, target, eventType, reason, before, after string
	limit                                                     int
}

func (l *letterFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&l.source, "source", "", "only from: "+strings.Join(readmodel.SourceKinds, ", "))
	f.StringVar(&l.trigger, "trigger", "", "only deliveries that this trigger made, by its name or id")
	f.StringVar(&l.target, "target", "", "only deliveries that named this handler, such as go:mail")
	f.StringVar(&l.eventType, "type", "", `only of this event type or pattern, such as "order.*"`)
	f.StringVar(&l.reason, "reason", "", "only those given up for this reason")
	f.StringVar(&l.before, "before", "", "only those given up before this time, RFC 3339")
	f.StringVar(&l.after, "after", "", "only those given up at or after this time, RFC 3339")
}

// addBounded is add for verbs that change what is picked.
func (l *letterFlags) addBounded(cmd *cobra.Command) {
	l.add(cmd)
	cmd.Flags().IntVar(&l.limit, "limit", 1000, limitUsage)
}

// check refuses what could match nothing.
func (l *letterFlags) check(cmd *cobra.Command) error {
	return cmp.Or(oneOf(cmd, "source", l.source, readmodel.SourceKinds...), typePattern(cmd, l.eventType))
}

// filter joins the flags, the ids on the command line and the namespace. With ids the namespace of the environment is left
// out, since an id names its dead letter alone; one given by -n still counts.
func (l *letterFlags) filter(cmd *cobra.Command, cfg *config.Config, args []string) (deadletter.Filter, error) {
	f := deadletter.Filter{
		Source: l.source, Trigger: l.trigger, Target: l.target, Type: l.eventType, Reason: l.reason, Limit: l.limit,
	}
	if len(args) == 0 || cmd.Flags().Changed("namespace") {
		f.Namespace = nexus.Namespace(cfg.Namespace)
	}
	var err error
	if f.Before, err = timeFlag(cmd, "before", l.before); err != nil {
		return f, err
	}
	if f.After, err = timeFlag(cmd, "after", l.after); err != nil {
		return f, err
	}
	for _, arg := range args {
		id, err := letterID(cmd, arg)
		if err != nil {
			return f, err
		}
		f.IDs = append(f.IDs, id)
	}
	return f, nil
}

// picks reports whether anything on the command line picks letters. A namespace in the environment alone does not: it is
// there for other commands, too, and these two verbs must not take "all of it" from there.
func picks(cmd *cobra.Command, args []string) bool {
	for _, name := range []string{"namespace", "source", "trigger", "target", "type", "reason", "before", "after"} {
		if cmd.Flags().Changed(name) {
			return true
		}
	}
	return len(args) > 0
}

func newDLQGroup(s *session) *cobra.Command {
	var p page
	cmd := &cobra.Command{
		Use:   "group",
		Short: "Count unresolved dead letters by consumer, type and reason, the most first",
		Example: `  nexus-node dlq group -n shop
  nexus-node dlq group -n "" -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.list(cmd, p, readmodel.DeadLetterGroups)
		},
	}
	p.addLimit(cmd)
	return cmd
}

// jsonFlag is nil where the flag was not given: empty text is no JSON.
func jsonFlag(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

func letterID(cmd *cobra.Command, arg string) (int64, error) {
	id, err := strconv.ParseInt(arg, 10, 64)
	if err != nil {
		return 0, usage(cmd, quote(arg)+" is not a dead letter's id, which is a whole number")
	}
	return id, nil
}

func newDLQList(s *session) *cobra.Command {
	var (
		flags letterFlags
		p     page
	)
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List unresolved dead letters, oldest first",
		Example: `  nexus-node dlq list -n shop --type 'order.*'
  nexus-node dlq list -n "" --after 2026-11-27T00:00:00Z -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmp.Or(flags.check(cmd), p.check(cmd)); err != nil {
				return err
			}
			return s.amongVisible(cmd, func(c *client) error {
				f, err := flags.filter(cmd, c.cfg, nil)
				if err != nil {
					return err
				}
				return c.printPage(readmodel.DeadLetters(readmodel.DeadLetterFilter{
					Namespace: string(f.Namespace), Source: f.Source, Trigger: f.Trigger, Target: f.Target, Type: f.Type, Reason: f.Reason, Before: f.Before, After: f.After,
				}), p)
			})
		},
	}
	flags.add(cmd)
	p.add(cmd)
	return cmd
}

func timeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

func newDLQShow(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Show one dead letter whole, resolved or not",
		Example: "  nexus-node dlq show 12 -o json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := letterID(cmd, args[0])
			if err != nil {
				return err
			}
			return s.connected(cmd, func(c *client) error {
				missing := &notFound{fmt.Sprintf("no dead letter %d that you may see", id), "nexus-node dlq list"}
				return c.show("show dead letter", missing, readmodel.DeadLetter, id)
			})
		},
	}
}
