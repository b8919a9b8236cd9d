package cli

import (
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/app"
)

func newRun(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Run a node of the namespace until SIGTERM",
		Long: `Run a node of the namespace. It registers, sends heartbeats and drives the upkeep of the database where pg_cron does not.
This program has no handlers of its own: events wait for the nodes of programs that embed one.

SIGTERM or Ctrl-C drains: nothing new is claimed, handlers get NEXUS_GRACE to finish, the rest is released. A second signal
ends the process at once. A database that is away is waited for. Logs are JSON lines on stderr.`,
		Example: `  NEXUS_NAMESPACE=shop nexus-node run
  NEXUS_LOG_LEVEL=debug nexus-node run -n shop`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := s.load(cmd)
			if err != nil {
				return err
			}
			if err := cfg.NeedNamespace(); err != nil {
				return err
			}
			return app.Run(cmd.Context(), cfg, app.Logger(s.Stderr, cfg.LogLevel))
		},
	}
}
