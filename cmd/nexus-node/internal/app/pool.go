package app

import (
	"context"
	"fmt"
	"math"

	pgxzerolog "github.com/jackc/pgx-zerolog"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/multitracer"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/tracelog"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
	"github.com/nexuspg/nexus/internal/db"
)

// PoolOptions say what a pool is for.
type PoolOptions struct {
	Application string               // application_name in pg_stat_activity, unless the URL names another
	Log         *zerolog.Logger      // nil: SQL is not logged; at level debug every statement is, with its first arguments
	Traces      trace.TracerProvider // nil: statements have no spans
	Notice      func(text string)    // hears what the server says beside its answers; nil: nobody does
	MaxConns    int32                // 0: NEXUS_POOL_MAX_CONNS, else pool_max_conns of the URL, else pgx's own choice
}

// Pool makes a pool without connecting.
func Pool(ctx context.Context, cfg *config.Config, o PoolOptions) (*pgxpool.Pool, error) {
	if err := cfg.NeedDatabase(); err != nil {
		return nil, err
	}
	pc, err := pgxpool.ParseConfig(cfg.DatabaseURL)
	if err != nil {
		// The driver's words may quote the string, and that holds a password.
		return nil, fmt.Errorf("%s is not a connection string", config.EnvDatabaseURL)
	}
	pc.ConnConfig.ConnectTimeout = cfg.ConnectTimeout
	params := pc.ConnConfig.RuntimeParams
	if params["application_name"] == "" {
		params["application_name"] = o.Application
	}
	if n := cfg.PoolMaxConns; n > 0 && n <= math.MaxInt32 {
		pc.MaxConns = int32(n)
	}
	if o.MaxConns > 0 {
		pc.MaxConns = o.MaxConns
	}
	if o.Notice != nil {
		pc.ConnConfig.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { o.Notice(n.Message) }
	}
	var tracers []pgx.QueryTracer
	if o.Log != nil && o.Log.GetLevel() <= zerolog.DebugLevel {
		tracers = append(tracers, &tracelog.TraceLog{Logger: sqlLogger(*o.Log), LogLevel: tracelog.LogLevelDebug})
	}
	if o.Traces != nil {
		tracers = append(tracers, sqlSpans(o.Traces))
	}
	if len(tracers) > 0 {
		pc.ConnConfig.Tracer = multitracer.New(tracers...)
	}
	pc.AfterConnect = db.PersonSettings
	return pgxpool.NewWithConfig(ctx, pc)
}

// sqlLogger logs statements at debug, whatever the driver thinks of them: a failed statement is the caller's to judge, and
// its error is reported where it lands.
func sqlLogger(z zerolog.Logger) tracelog.Logger {
	sql := pgxzerolog.NewLogger(z)
	return tracelog.LoggerFunc(func(ctx context.Context, _ tracelog.LogLevel, msg string, data map[string]any) {
		sql.Log(ctx, tracelog.LogLevelDebug, msg, data)
	})
}

// Open is Pool and a first connection, for commands that are useless without one.
func Open(ctx context.Context, cfg *config.Config, o PoolOptions) (*pgxpool.Pool, error) {
	pool, err := Pool(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, db.Error(ctx, "connect", err)
	}
	return pool, nil
}
