package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/readmodel"
	"github.com/nexuspg/nexus/sqlhandler"
)

func newHandler(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "handler",
		Short:   "Subscribe, look at and unsubscribe handlers written in SQL; create and drop those that triggers name",
		Example: "  nexus-node handler list -n shop",
	}, newHandlerSubscribe(s), newHandlerList(s), newHandlerShow(s), newHandlerUnsubscribe(s), newHandlerCreate(s), newHandlerDrop(s))
}

func newHandlerSubscribe(s *session) *cobra.Command {
	var (
		opts    sqlhandler.Options
		from    string
		ordered bool
	)
	cmd := &cobra.Command{
		Use:   "subscribe PATTERN FUNCTION",
		Short: "Have a function (jsonb) of yours handle the events of a pattern, in a consumer of its own",
		Long: `Have a function of yours handle events, as its owner, in a consumer of its own: that of --consumer, else named like the function. Said again nothing
happens. The function is SECURITY DEFINER with a search_path of its own, and its owner granted EXECUTE to nexus_guard: what is missing is said with
the line that mends it. docs/guides/sql-handlers.md has a whole one.

With --ordered the events of one ordering key are handled one after the other, and as many keys at once as there are lanes. Such a consumer has
no --max-in-flight, --rate, --levels and --unhandled-after.`,
		Example: `  nexus-node handler subscribe -n shop "order.*" "app.on_order(jsonb)"
  nexus-node handler subscribe -n shop "*" "app.audit(jsonb)" --consumer audit --from beginning --timeout 5s`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := givenZero(cmd); err != nil {
				return err
			}
			if ordered && opts.Lanes == 0 {
				opts.Lanes = defaultLanes
			} else if !ordered && (opts.Lanes != 0 || opts.Halt) {
				return usage(cmd, "--lanes and --halt are for an ordered consumer: give --ordered as well")
			}
			var err error
			if from != "now" { // as left out
				if opts.FromBeginning, opts.FromTime, err = inLog(cmd, "from", from, "now, beginning"); err != nil {
					return err
				}
			}
			return s.inNamespace(cmd, func(c *client) error {
				consumer, err := sqlhandler.Subscribe(c.ctx(), c.pool, c.namespace(), args[0], args[1], &opts)
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "consumer", name: consumer, state: "subscribed"})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.Consumer, "consumer", "", "name of its consumer (default that of the function)")
	f.DurationVar(&opts.Timeout, "timeout", 0, "how long one call may take (default 30s)")
	f.StringVar(&from, "from", "", "now, beginning, or a time of the past, RFC 3339: also what is in the log from then on (default now)")
	f.BoolVar(&ordered, "ordered", false, "events of one ordering key are handled one after the other")
	f.IntVar(&opts.Lanes, "lanes", 0, "with --ordered: how many lanes, 1 to 4,096 (default 8)")
	f.BoolVar(&opts.Halt, "halt", false, "with --ordered: an event whose attempts are used up stops its lane, and is no dead letter")
	addConsumerOptions(cmd, &opts.Retry, &opts.UnhandledAfter, &opts.MaxInFlight, &opts.Levels, &opts.Rate, true)
	return cmd
}

func newHandlerList(s *session) *cobra.Command {
	var keys bool
	cmd := s.newList(
		"List the handlers in SQL of the namespace, or of all, and why one is not called; with --keys those that triggers name", `  nexus-node handler list -n shop
  nexus-node handler list -n shop --keys
  nexus-node handler list -n "" -o json`,
		func(namespace string) readmodel.List {
			if keys {
				return readmodel.Handlers(namespace)
			}
			return readmodel.SQLHandlers(namespace)
		})
	cmd.Flags().BoolVar(&keys, "keys", false, "those that triggers and requests name by key: the function or URL, how many triggers, which live nodes have it")
	return cmd
}

func newHandlerShow(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "Show the handler in SQL of one consumer whole: as whom it runs, and what mends it if it is not called",
		Example: "  nexus-node handler show -n shop on_order",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				missing := &notFound{
					fmt.Sprintf("no handler in SQL of consumer %s in namespace %s that you may see", quote(args[0]), quote(c.cfg.Namespace)), "nexus-node handler list",
				}
				return c.show("show handler", missing, readmodel.SQLHandler, c.cfg.Namespace, args[0])
			})
		},
	}
}

func newHandlerUnsubscribe(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "unsubscribe NAME",
		Short:   "Take the function from a consumer; its events go on coming, and wait",
		Example: "  nexus-node handler unsubscribe -n shop on_order",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				had, err := sqlhandler.Unsubscribe(c.ctx(), c.pool, c.namespace(), args[0])
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "consumer", name: args[0], state: either(had, "unsubscribed", "had no handler in SQL")})
			})
		},
	}
}
