package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/rs/zerolog"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
	"github.com/nexuspg/nexus/ingress"
	"github.com/nexuspg/nexus/migrate"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/sqlhandler"
	"github.com/nexuspg/nexus/webhook"
)

// Run runs a node without handlers until ctx ends and it has drained.
func Run(ctx context.Context, cfg *config.Config, log zerolog.Logger) error {
	nc := nodeConfig(cfg, log)
	if config.Traces() {
		provider, flush, err := tracing(ctx, nc.Logger)
		if err != nil {
			return err
		}
		defer flush()
		nc.Tracer = provider
	}
	pool, err := Pool(ctx, cfg, PoolOptions{Application: "nexus-node run", Log: &log, Traces: nc.Tracer})
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := fits(ctx, pool, 2*cfg.ConnectTimeout); err != nil {
		return err
	}
	if cfg.TriggerAddress != "" {
		stop, err := serveTriggers(ctx, cfg.TriggerAddress, &ingress.Triggers{DB: pool, Namespace: nc.Namespace, Logger: nc.Logger}, cfg.Grace, nc.Logger)
		if err != nil {
			return err
		}
		defer stop()
	}
	if cfg.HTTPAddress == "" {
		return newNode(pool, cfg, nc).Run(ctx)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	nc.Registerer = registry
	n := newNode(pool, cfg, nc)
	stop, err := serve(ctx, cfg.HTTPAddress, withIngress(cfg, pool, handler(n, registry, nc.Logger), nc.Logger), nc.Logger)
	if err != nil {
		return err
	}
	defer stop()
	return n.Run(ctx)
}

// newNode makes a node that sends webhooks, unless that is left to others, and runs SQL handlers where it can. The settings have been judged.
func newNode(pool *pgxpool.Pool, cfg *config.Config, nc node.Config) *node.Node {
	n := node.New(pool, nc)
	if allowed, err := cfg.AllowedNetworks(); err == nil && cfg.Webhooks != "off" {
		n.Add(&webhook.Sender{Allow: allowed})
	}
	if cfg.SQLHandlersURL != "" {
		n.Add(&sqlhandler.Runner{URL: cfg.SQLHandlersURL})
	}
	return n
}

// withIngress takes events at /events, if that is asked for, and leaves the rest to h.
func withIngress(cfg *config.Config, pool *pgxpool.Pool, h http.Handler, log *slog.Logger) http.Handler {
	if cfg.Ingress != "on" {
		return h
	}
	mux := http.NewServeMux()
	mux.Handle("/events", &ingress.Handler{DB: pool, Authorize: ingress.Kept(pool), Logger: log})
	mux.Handle("/", h)
	return mux
}

// fits refuses a schema of another version than this program's, as migrate does. A database that is away is the node's to wait for.
func fits(ctx context.Context, pool *pgxpool.Pool, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := migrate.Check(ctx, pool); errors.Is(err, nexus.ErrSchema) {
		return err
	}
	return nil
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
