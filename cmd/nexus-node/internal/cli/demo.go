package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/app"
	"github.com/nexuspg/nexus/cmd/nexus-node/internal/demo"
)

// demoNode is the hidden command that the demo starts its node processes with.
const demoNode = "demo-node"

func newDemo(s *session) *cobra.Command {
	o := demo.Options{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the main job on a Postgres of its own: emit, handle, retry, bury, replay, kill -9, schedules, consumers",
		Long: `Start a private Postgres, install Nexus, and emit GitHub's webhook examples (an npm package, fetched once) in transactions
that also write a business row. Two node processes aggregate them; one is killed with -9 half way. Meanwhile tasks fire in three
time zones and every two seconds, and of two one-shot events one is cancelled; a consumer is added late, a webhook is delivered to a receiver that checks its signature, and
pg_cron runs a handler in SQL where there is no node. A watched table has triggers call a handler and a webhook, a dead letter is edited and replayed, and requests are answered. The last four lines say what was emitted, handled, lost and doubled. It waits for a full minute of the clock. Nothing is left running unless --keep is given.`,
		Example: `  nexus-node demo
  nexus-node demo --events 20000 --keep`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			cache, err := os.UserCacheDir()
			if err != nil {
				cache = os.TempDir()
			}
			o.CacheDir = filepath.Join(cache, "nexus", "webhooks")
			o.Out = s.Stdout
			o.NodeArgs = []string{exe, demoNode}
			return demo.Run(cmd.Context(), o)
		},
	}
	cmd.Flags().IntVar(&o.Events, "events", 5000, "emit at least so many")
	cmd.Flags().BoolVar(&o.Keep, "keep", false, "leave the server running and print its URL")
	return cmd
}

func newDemoNode(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     demoNode + " NAME",
		Short:   "One node process of the demo",
		Example: `  nexus-node demo-node node-a`,
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := s.load(cmd)
			if err != nil {
				return err
			}
			return demo.Node(cmd.Context(), s.Stdin, cfg.DatabaseURL, args[0], app.Slog(app.Logger(s.Stderr, cfg.LogLevel)))
		},
	}
}
