package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/app"
	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
)

func newDev(s *session) *cobra.Command {
	var (
		opts    app.DevOptions
		verbose bool
	)
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run a private Postgres with everything installed, until Ctrl-C",
		Long: `Start a Postgres of its own from the server binaries of this machine, install Nexus in it and create the namespace "` + app.DevNamespace + `".
Once it is ready, a line NEXUS_DATABASE_URL=… goes to stdout, to be exported or given to psql. Ctrl-C or SIGTERM stops the
server and removes its folder, unless --dir names one to keep.`,
		Example: `  nexus-node dev
  nexus-node dev --dir ./pgdata --port 54320`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := s.load(cmd)
			if err != nil {
				return err
			}
			opts.Ready = func(url string) {
				fmt.Fprintf(s.Stdout, "%s=%s\n", config.EnvDatabaseURL, url)
				fmt.Fprintf(s.Stderr, "ready; namespace %s; Ctrl-C stops it\n", app.DevNamespace)
			}
			opts.Logger = app.Slog(app.Logger(s.Stderr, either(verbose, "debug", cfg.LogLevel)))
			return app.Dev(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.Dir, "dir", "", "keep the cluster in this folder, and use the one that is there")
	cmd.Flags().IntVar(&opts.Port, "port", 0, "port on 127.0.0.1; 0: a free one")
	cmd.Flags().StringVar(&opts.PgmqSQL, "pgmq-sql", "", "pgmq.sql of a pgmq release, where the server has no such extension")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "say each step of the installation")
	return cmd
}
