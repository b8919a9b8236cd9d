package cli

import (
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/trigger"
)

func newHandlerCreate(s *session) *cobra.Command {
	var opts trigger.HandlerOptions
	cmd := &cobra.Command{
		Use:   "create KEY",
		Short: "Make a handler that triggers name: sql:NAME of a function of yours, webhook:NAME of a URL",
		Long: `Make a handler that triggers name by its key. sql:NAME is a function (jsonb) of yours, judged as by "handler subscribe"; webhook:NAME a URL to which nodes POST,
whose secret is printed this once. go:NAME and workflow:NAME need none: they are made when a trigger names them. Created again alike nothing happens.`,
		Example: `  nexus-node handler create -n shop sql:audit --function "app.audit(jsonb)" --timeout 5s
  nexus-node handler create -n shop webhook:crm --url https://crm.example/in`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				m, err := trigger.CreateHandler(c.ctx(), c.pool, c.namespace(), args[0], &opts)
				if err != nil {
					return err
				}
				state := either(m.Created, "created", "was there")
				if m.Secret == "" {
					return s.printDone(deed{kind: "handler", name: args[0], state: state})
				}
				if s.format == asJSON {
					return s.printJSON(map[string]string{"handler": args[0], "state": state, "secret": m.Secret})
				}
				return s.printFields([]string{"handler", "state", "secret"}, []string{args[0], state, m.Secret})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.Function, "function", "", "sql: the function, such as app.audit(jsonb)")
	f.DurationVar(&opts.Timeout, "timeout", 0, "of a call by a node (default 30s), of a POST (default 15s)")
	f.StringVar(&opts.URL, "url", "", "webhook: where deliveries are POSTed")
	f.StringVar(&opts.Source, "source", "", "webhook: source of its CloudEvents (default nexus: and the namespace)")
	f.IntVar(&opts.Concurrency, "concurrency", 0, "webhook: POSTs at once of each node (default 5)")
	f.BoolVar(&opts.Insecure, "insecure", false, "webhook: the URL may be one of http")
	return cmd
}

func newHandlerDrop(s *session) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:     "drop KEY",
		Short:   "Drop a handler that no trigger names",
		Example: "  nexus-node handler drop -n shop webhook:crm",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				var had bool
				err := c.change(dryRun, func(q nexus.DBTX) (err error) {
					had, err = trigger.DropHandler(c.ctx(), q, c.namespace(), args[0])
					return err
				})
				if err != nil {
					return err
				}
				return s.printDone(deed{"handler", args[0], either(had, would(dryRun, "dropped"), "is not there"), dryRun})
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "do it, say what happened, and undo it")
	return cmd
}
