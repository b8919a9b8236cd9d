// Package sqlwork runs handlers that are written in SQL, in sessions of the login nexus_sql, or those of one owner in a session of his. The database decides whose turn it is, calls the
// functions and settles; here are only the connection, the order of the calls, and what becomes of a batch that could not be committed.
//
//	core_node.claim_sql ── commit ──▶ core_node.run_sql ── commit ──▶ discard all
//	                                        │ fails as a whole
//	                                        ▼
//	                                  each event alone ── fails ──▶ core_node.fail_sql
//
// What a handler leaves in its session would meet the handlers of the next owner. So statements have no names, and nothing of one batch is left
// for the next: DISCARD ALL, or another connection where that fails.
package sqlwork

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/svc"
)

// Login is the only one that may run the handlers of others.
const Login = "nexus_sql"

const (
	atOnce       = 50               // events of one claim
	budget       = time.Second      // of one transaction, after which the rest is given back
	margin       = 5 * time.Second  // beyond a handler's time, for the server to end it
	exchange     = 30 * time.Second // of any other statement
	firstPause   = 10 * time.Millisecond
	errorMaxText = 8000
)

// Service runs the SQL handlers of the node's namespace.
type Service struct{ cfg *pgx.ConnConfig }

// New judges the URL, by which it will connect.
func New(url string) (*Service, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the URL of SQL handlers is not a connection string") // the driver's words may quote a password
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec
	cfg.StatementCacheCapacity, cfg.DescriptionCacheCapacity = 0, 0
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "nexus sql handlers"
	}
	return &Service{cfg: cfg}, nil
}

// Declare sees that the connection is one of [Login].
func (s *Service) Declare(ctx context.Context, _ *svc.Host) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// Runner implements the node's Service.
func (s *Service) Runner(h *svc.Host) svc.Runner {
	w := &worker{Service: s, host: h, kick: make(chan struct{}, 1), session: session{namespace: h.Namespace, runner: h.NodeID, log: h.Logger}}
	w.Runner = svc.Serve(h, func(ctx context.Context) error {
		defer w.drop()
		return w.work(ctx)
	})
	return w
}

func (s *Service) connect(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, s.cfg)
	if err != nil {
		return nil, db.Error(ctx, "run_sql", err)
	}
	var login string
	if err := conn.QueryRow(ctx, "select session_user::text").Scan(&login); err != nil {
		_ = conn.Close(ctx)
		return nil, db.Error(ctx, "run_sql", err)
	}
	if login != Login {
		_ = conn.Close(ctx)
		return nil, fmt.Errorf("SQL handlers are run by the login %s, which has no other right, and the URL for them is one of %s", Login, login)
	}
	return conn, nil
}
