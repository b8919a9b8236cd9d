package cli

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/app"
	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
)

// load reads the settings. -n wins over the environment, also when it is empty, which then means every namespace.
func (s *session) load(cmd *cobra.Command) (*config.Config, error) {
	cfg, warnings, err := s.Config()
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		s.say(note{Warning: w})
	}
	if cmd.Flags().Changed("namespace") {
		cfg.Namespace = s.namespace
	}
	return cfg, nil
}

// connect loads the settings and opens a pool for one command. The pool is small: a command is one caller, and those that
// look into a transaction while it runs need two connections.
func (s *session) connect(cmd *cobra.Command) (*config.Config, *pgxpool.Pool, error) {
	cfg, err := s.load(cmd)
	if err != nil {
		return nil, nil, err
	}
	if s.quick {
		cfg.ConnectTimeout = min(cfg.ConnectTimeout, completeWithin)
	}
	pool, err := app.Open(cmd.Context(), cfg, app.PoolOptions{
		Application: applicationName(cmd), MaxConns: 2, Notice: func(text string) { s.say(note{Text: text}) },
	})
	return cfg, pool, err
}

// connectTo is connect for a command that needs a namespace.
func (s *session) connectTo(cmd *cobra.Command) (*config.Config, *pgxpool.Pool, error) {
	cfg, pool, err := s.connect(cmd)
	if err != nil {
		return nil, nil, err
	}
	if err := cfg.NeedNamespace(); err != nil {
		pool.Close()
		return nil, nil, err
	}
	return cfg, pool, nil
}

// connectToList is connect for a command that lists what is in a namespace, or in all: one that is not there for the caller is
// refused, so that a list of nothing is an answer.
func (s *session) connectToList(cmd *cobra.Command) (*config.Config, *pgxpool.Pool, error) {
	cfg, pool, err := s.connect(cmd)
	if err != nil {
		return nil, nil, err
	}
	if err := visible(cmd.Context(), pool, cfg.Namespace); err != nil {
		pool.Close()
		return nil, nil, err
	}
	return cfg, pool, nil
}

func visible(ctx context.Context, pool *pgxpool.Pool, namespace string) error {
	if namespace == "" {
		return nil
	}
	records, err := selectRecords(ctx, pool, "look for the namespace", `select namespace from core.namespaces where namespace = $1::text`, namespace)
	if err == nil && len(records) == 0 {
		return &notFound{"there is no namespace " + quote(namespace) + " that you may see", "nexus-node namespace list"}
	}
	return err
}

// applicationName is what an administrator sees in pg_stat_activity: "nexus-node dlq replay".
func applicationName(cmd *cobra.Command) string { return strings.TrimSpace(cmd.CommandPath()) }
