package cli

import (
	"strings"

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

// connected loads the settings, opens a pool for one command, and closes it when the command is done. The pool is small: a command is
// one caller, and those that look into a transaction while it runs need two connections.
func (s *session) connected(cmd *cobra.Command, do func(*client) error) error {
	cfg, err := s.load(cmd)
	if err != nil {
		return err
	}
	if s.quick {
		cfg.ConnectTimeout = min(cfg.ConnectTimeout, completeWithin)
	}
	pool, err := app.Open(cmd.Context(), cfg, app.PoolOptions{
		Application: applicationName(cmd), MaxConns: 2, Notice: func(text string) { s.say(note{Text: text}) },
	})
	if err != nil {
		return err
	}
	defer pool.Close()
	return do(&client{session: s, cmd: cmd, cfg: cfg, pool: pool})
}

// inNamespace is connected for a command that needs a namespace.
func (s *session) inNamespace(cmd *cobra.Command, do func(*client) error) error {
	return s.connected(cmd, func(c *client) error {
		if err := c.cfg.NeedNamespace(); err != nil {
			return err
		}
		return do(c)
	})
}

// amongVisible is connected for a command that lists what is in a namespace, or in all: one that is not there for the caller is
// refused, so that a list of nothing is an answer.
func (s *session) amongVisible(cmd *cobra.Command, do func(*client) error) error {
	return s.connected(cmd, func(c *client) error {
		if err := c.sees(c.cfg.Namespace); err != nil {
			return err
		}
		return do(c)
	})
}

// applicationName is what an administrator sees in pg_stat_activity: "nexus-node dlq replay".
func applicationName(cmd *cobra.Command) string { return strings.TrimSpace(cmd.CommandPath()) }
