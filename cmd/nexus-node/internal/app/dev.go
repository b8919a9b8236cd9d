package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/pgdev"
	"github.com/nexuspg/nexus/migrate"
	"github.com/nexuspg/nexus/queue"
)

const (
	devDatabase = "nexus"

	// DevNamespace is the namespace that Dev creates.
	DevNamespace = "dev"
)

// DevOptions say how the private Postgres is run.
type DevOptions struct {
	Dir     string // "": a temporary one, removed at the end
	Port    int    // 0: a free one
	PgmqSQL string // path of pgmq's SQL; "": the server has the extension
	Logger  *slog.Logger
	Ready   func(databaseURL string) // called once everything is installed
}

// Dev runs a private Postgres with Nexus installed until ctx ends. Whatever happens, it leaves no process behind, and no
// folder but the one it was given.
func Dev(ctx context.Context, o DevOptions) (err error) {
	// pg_cron fires in one database of a cluster, which is the one that users get, and not "postgres".
	cluster, err := pgdev.Start(ctx, pgdev.Options{Dir: o.Dir, Port: o.Port, CronDatabase: devDatabase, Logger: o.Logger})
	if err != nil {
		return stopped(ctx, err)
	}
	defer func() { err = errors.Join(err, cluster.Stop(context.WithoutCancel(ctx))) }()

	if err := createDatabase(ctx, cluster.URL("postgres"), devDatabase); err != nil {
		return stopped(ctx, err)
	}
	url := cluster.URL(devDatabase)
	if err := install(ctx, url, o); err != nil {
		return stopped(ctx, err)
	}
	o.Ready(url)
	<-ctx.Done()
	return nil
}

// stopped is nil for an error that is only the end of ctx: being told to stop while starting is no failure.
func stopped(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
		return nil
	default:
		return err
	}
}

// createDatabase creates it unless a kept folder has it already.
func createDatabase(ctx context.Context, superuserURL, name string) error {
	pool, err := pgxpool.New(ctx, superuserURL)
	if err != nil {
		return err
	}
	defer pool.Close()
	_, err = pool.Exec(ctx, "create database "+name)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == duplicateDatabase {
		return nil
	}
	return db.Error(ctx, "create database", err)
}

const duplicateDatabase = "42P04"

func install(ctx context.Context, url string, o DevOptions) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	opts := &migrate.Options{Logger: o.Logger}
	if o.PgmqSQL != "" {
		f, err := os.Open(o.PgmqSQL)
		if err != nil {
			return fmt.Errorf("pgmq's SQL: %w", err)
		}
		defer f.Close()
		opts.PgmqSQL = f
	}
	report, err := migrate.Up(ctx, pool, opts)
	if err != nil {
		return err
	}
	for _, missing := range report.Missing {
		o.Logger.Warn("missing", "what", missing)
	}
	return queue.CreateNamespace(ctx, pool, DevNamespace, nil)
}
