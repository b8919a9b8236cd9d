package app

import (
	"context"

	"github.com/rs/zerolog"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/config"
	"github.com/nexuspg/nexus/node"
)

// Run runs a node without handlers until ctx ends and it has drained.
func Run(ctx context.Context, cfg *config.Config, log zerolog.Logger) error {
	pool, err := Pool(ctx, cfg, PoolOptions{Application: "nexus-node run", Log: &log})
	if err != nil {
		return err
	}
	defer pool.Close()
	return node.New(pool, nodeConfig(cfg, log)).Run(ctx)
}

// nodeConfig translates settings into the node's, in which zero means the default and negative means none.
func nodeConfig(cfg *config.Config, log zerolog.Logger) node.Config {
	grace := cfg.Grace
	if grace == 0 {
		grace = -1
	}
	return node.Config{
		Namespace: nexus.Namespace(cfg.Namespace),
		ID:        cfg.NodeID,
		Workers:   cfg.Workers,
		Lease:     cfg.Lease,
		Poll:      cfg.IdlePollInterval,
		Grace:     grace,
		Timeout:   cfg.HandlerTimeout,
		WakeURL:   cfg.WakeURL,
		Logger:    Slog(log),
	}
}
