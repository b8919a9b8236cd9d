package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/readmodel"
	"github.com/nexuspg/nexus/webhook"
)

func newWebhook(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "webhook",
		Short:   "Create, alter, look at, try, rotate and drop webhooks",
		Example: "  nexus-node webhook list -n shop",
	}, newWebhookCreate(s), newWebhookAlter(s), newWebhookList(s), newWebhookShow(s), newWebhookRotate(s), newWebhookTest(s), newWebhookDrop(s))
}

// webhookFlags are the options of a webhook, as flags.
type webhookFlags struct {
	given      webhook.Options
	secretFile string
}

func (w *webhookFlags) add(cmd *cobra.Command, defaults bool) {
	def := func(value string) string { return either(defaults, " (default "+value+")", "") }
	f := cmd.Flags()
	f.StringVar(&w.given.Source, "source", "", "source of the CloudEvents, a URI"+def("nexus: and the namespace"))
	f.DurationVar(&w.given.Timeout, "timeout", 0, "how long one POST may take"+def("15s"))
	f.IntVar(&w.given.Concurrency, "concurrency", 0, "POSTs at once of each node"+def("5"))
	f.DurationVar(&w.given.PauseAfter, "pause-after", 0, "how long it may fail before it is paused"+def("120h"))
	f.BoolVar(&w.given.Insecure, "insecure", false, "allow a URL of http, which anyone on the way can read")
}

func (w *webhookFlags) addSecret(cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.secretFile, "secret-file", "", "read the secret from this file, - for stdin; without it one is made")
}

// secret reads it from where no list of processes and no history of a shell shows it.
func (w *webhookFlags) secret(s *session) (string, error) {
	var text []byte
	var err error
	switch w.secretFile {
	case "":
		return "", nil
	case "-":
		text, err = io.ReadAll(io.LimitReader(s.Stdin, 1000))
	default:
		text, err = os.ReadFile(w.secretFile)
	}
	return strings.TrimSpace(string(text)), err
}

func newWebhookCreate(s *session) *cobra.Command {
	var (
		flags    webhookFlags
		patterns []string
		ordered  bool
	)
	cmd := &cobra.Command{
		Use:   "create NAME URL",
		Short: "Create a webhook and print the secret that its events are signed with, this once",
		Long: `Create a webhook: a consumer of its own, whose events nodes POST to the URL as CloudEvents 1.0, signed as Standard Webhooks says. It
prints the secret, which is not shown again; for a webhook that was there as asked it prints none.

With --ordered the events of one ordering key are POSTed one after the other, and as many keys at once as there are lanes. Such a webhook has
no --max-in-flight, --rate and --levels.`,
		Example: `  nexus-node webhook create -n shop billing https://billing.example/in --pattern "order.*"
  nexus-node webhook create -n shop billing https://billing.example/in --pattern "order.*" --secret-file billing.secret`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(patterns) == 0 {
				return usage(cmd, `nothing says which events: give --pattern, such as --pattern "order.*"`)
			}
			opts := flags.given
			if ordered && opts.Lanes == 0 {
				opts.Lanes = defaultLanes
			} else if !ordered && (opts.Lanes != 0 || opts.Halt) {
				return usage(cmd, "--lanes and --halt are for a webhook in order: give --ordered as well")
			}
			var err error
			if opts.Secret, err = flags.secret(s); err != nil {
				return err
			}
			return s.inNamespace(cmd, func(c *client) error {
				secret, err := webhook.Create(c.ctx(), c.pool, c.namespace(), args[0], args[1], patterns, &opts)
				if err != nil {
					return err
				}
				if secret == "" {
					return s.printDone(deed{kind: "webhook", name: args[0], state: "was there"})
				}
				return s.printSecret(args[0], "created", secret)
			})
		},
	}
	flags.add(cmd, true)
	flags.addSecret(cmd)
	cmd.Flags().StringArrayVar(&patterns, "pattern", nil, `events that it gets: a type, "order.*" or "*"; may be given often`)
	cmd.Flags().IntVar(&flags.given.MaxInFlight, "max-in-flight", 0, "POSTs at once of all nodes (default no limit)")
	cmd.Flags().IntVar(&flags.given.Levels, "levels", 0, "how many priorities of events it tells apart, up to 4 (default 1)")
	cmd.Flags().StringVar(&flags.given.Rate, "rate", "", `POSTs in a time of all nodes, such as "100/min" (default no limit)`)
	cmd.Flags().BoolVar(&ordered, "ordered", false, "events of one ordering key are POSTed one after the other")
	cmd.Flags().IntVar(&flags.given.Lanes, "lanes", 0, "with --ordered: how many lanes, 1 to 4,096 (default 8)")
	cmd.Flags().BoolVar(&flags.given.Halt, "halt", false, "with --ordered: an event whose attempts are used up stops its lane, and is no dead letter")
	return cmd
}

func (s *session) printSecret(name, state, secret string) error {
	if s.format == asJSON {
		return s.printJSON(map[string]string{"webhook": name, "state": state, "secret": secret})
	}
	return s.printFields([]string{"webhook", "state", "secret"}, []string{name, state, secret})
}

func newWebhookAlter(s *session) *cobra.Command {
	var (
		flags webhookFlags
		url   string
	)
	cmd := &cobra.Command{
		Use:   "alter NAME",
		Short: "Change where a webhook's events go, or its options; nodes follow within seconds",
		Example: `  nexus-node webhook alter -n shop billing --url https://billing.example/v2
  nexus-node webhook alter -n shop billing --timeout 30s --concurrency 20`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if url == "" && flags.given == (webhook.Options{}) {
				return usage(cmd, "nothing says what to change: give an option")
			}
			return s.inNamespace(cmd, func(c *client) error {
				if err := webhook.Alter(c.ctx(), c.pool, c.namespace(), args[0], url, &flags.given); err != nil {
					return err
				}
				return s.printDone(deed{kind: "webhook", name: args[0], state: "altered"})
			})
		},
	}
	flags.add(cmd, false)
	cmd.Flags().StringVar(&url, "url", "", "where its events go from now on")
	return cmd
}

func newWebhookList(s *session) *cobra.Command {
	return s.newList(
		"List the webhooks of the namespace, or of all, with where they go and how that goes", `  nexus-node webhook list -n shop
  nexus-node webhook list -n "" -o json`,
		readmodel.Webhooks)
}

func newWebhookShow(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "Show one webhook whole, but for its secrets",
		Example: "  nexus-node webhook show -n shop billing -o json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				missing := &notFound{fmt.Sprintf("no webhook %s in namespace %s that you may see", quote(args[0]), quote(c.cfg.Namespace)), "nexus-node webhook list"}
				return c.show("show webhook", missing, readmodel.Webhook, c.cfg.Namespace, args[0])
			})
		},
	}
}

func newWebhookRotate(s *session) *cobra.Command {
	var (
		flags   webhookFlags
		overlap time.Duration
	)
	cmd := &cobra.Command{
		Use:   "rotate NAME",
		Short: "Give a webhook another secret and print it, this once; the one before goes on signing for a while",
		Example: `  nexus-node webhook rotate -n shop billing
  nexus-node webhook rotate -n shop billing --overlap 1h`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			secret, err := flags.secret(s)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("overlap") && overlap <= 0 {
				overlap = -1
			}
			return s.inNamespace(cmd, func(c *client) error {
				young, err := webhook.RotateSecret(c.ctx(), c.pool, c.namespace(), args[0], secret, overlap)
				if err != nil {
					return err
				}
				return s.printSecret(args[0], "rotated", young)
			})
		},
	}
	flags.addSecret(cmd)
	cmd.Flags().DurationVar(&overlap, "overlap", 0, "how long the secret before signs too, 0s for not at all (default 24h)")
	return cmd
}

func newWebhookDrop(s *session) *cobra.Command {
	var force, dryRun bool
	cmd := &cobra.Command{
		Use:   "drop NAME",
		Short: "Drop a webhook with its consumer and its secrets",
		Example: `  nexus-node webhook drop -n shop billing --dry-run
  nexus-node webhook drop -n shop billing --force`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				err := c.change(dryRun, func(q nexus.DBTX) error { return webhook.Drop(c.ctx(), q, c.namespace(), args[0], force) })
				if err != nil {
					return err
				}
				return s.printDone(deed{"webhook", args[0], would(dryRun, "dropped"), dryRun})
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "although it has undelivered events or dead letters, which are lost")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be done")
	return cmd
}
