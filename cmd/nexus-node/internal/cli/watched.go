package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/readmodel"
	"github.com/nexuspg/nexus/trigger"
)

func newTableWatch(s *session) *cobra.Command {
	var o trigger.WatchOptions
	cmd := &cobra.Command{
		Use:   "watch TABLE COLLECTION",
		Short: "Have the changes of a table fire triggers, as mutations of a collection",
		Long: `Have each change of a row of a table, in the transaction that makes it, be a mutation of a collection, by which triggers of kind kv fire. It takes the
owner of the table, who may produce. Watched again alike nothing happens; other settings are a conflict. It prints the number of the watch.`,
		Example: `  nexus-node watch -n shop app.orders rows.orders --op update --column status`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				id, err := trigger.WatchTable(c.ctx(), c.pool, c.namespace(), args[0], args[1], &o)
				if err != nil {
					return err
				}
				if s.format == asJSON {
					return s.printJSON(map[string]any{"table": args[0], "watch_id": id})
				}
				return s.printFields([]string{"table", "watch_id"}, []string{args[0], strconv.FormatInt(id, 10)})
			})
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.Ops, "op", nil, "insert, update or delete; may be repeated (default all)")
	f.StringSliceVar(&o.Columns, "column", nil, "one that is shown and counts; may be repeated (default all)")
	f.StringSliceVar(&o.Key, "key", nil, "a column of the key, where the table has none; may be repeated")
	f.BoolVar(&o.Unchanged, "unchanged", false, "also updates that change nothing")
	f.BoolVar(&o.Emit, "emit", false, "mutations are ordinary events as well")
	f.BoolVar(&o.Replica, "replica", false, "also what replication applies; the table is watched row by row then")
	f.DurationVar(&o.LockTimeout, "lock-timeout", 0, "how long it waits for the table (default 5s)")
	return cmd
}

func newUnwatch(s *session) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:     "unwatch TABLE",
		Short:   "End the watch of a table, and drop its triggers",
		Example: "  nexus-node unwatch app.orders --dry-run",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.amongVisible(cmd, func(c *client) error {
				if err := c.change(dryRun, func(q nexus.DBTX) error { return trigger.UnwatchTable(c.ctx(), q, args[0]) }); err != nil {
					return err
				}
				return s.printDone(deed{"table", args[0], would(dryRun, "unwatched"), dryRun})
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "do it, say what happened, and undo it")
	return cmd
}

func newWatched(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "watched",
		Short:   "Look at watched tables, and switch them off and on",
		Example: "  nexus-node watched list -n shop",
	}, s.newList(
		"List the watched tables of the namespace, or of all, and what is in their way", `  nexus-node watched list -n shop
  nexus-node watched list -n "" -o json`,
		readmodel.Watched), newWatchedSwitch(s, true), newWatchedSwitch(s, false))
}

func newWatchedSwitch(s *session, on bool) *cobra.Command {
	var reason string
	verb := either(on, "on", "off")
	cmd := &cobra.Command{
		Use:     verb + " ID",
		Short:   either(on, "Have the changes of a watched table be mutations again", "Have the changes of a watched table be none; its triggers stay"),
		Example: "  nexus-node watched " + verb + " 7",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return usage(cmd, quote(args[0])+" is no number of a watch")
			}
			return s.amongVisible(cmd, func(c *client) error {
				changed, err := trigger.SwitchWatch(c.ctx(), c.pool, id, on, reason)
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "watch", name: args[0], state: either(changed, "switched "+verb, "was "+verb)})
			})
		},
	}
	if !on {
		cmd.Flags().StringVar(&reason, "reason", "", "why, which the list shows")
	}
	return cmd
}
