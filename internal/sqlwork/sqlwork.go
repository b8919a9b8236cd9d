// Package sqlwork runs handlers that are written in SQL, in sessions of the login nexus_sql. The database decides whose turn it is, calls the
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
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

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
	return svc.Serve(h, func(ctx context.Context) error {
		w := &worker{Service: s, host: h}
		defer w.drop()
		return w.work(ctx)
	})
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

type worker struct {
	*Service
	host *svc.Host
	conn *pgx.Conn // nil before it is needed
}

func (w *worker) drop() {
	if w.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = w.conn.Close(ctx)
		w.conn = nil
	}
}

// work claims and runs until ctx ends. What is claimed by then is run: it may finish within the grace time.
func (w *worker) work(ctx context.Context) error {
	pause := firstPause
	for ctx.Err() == nil {
		b, err := w.claim(ctx)
		switch {
		case ctx.Err() != nil && b == nil:
			continue
		case err != nil:
			return err
		case b == nil:
			wait(ctx, pause)
			pause = min(2*pause, w.host.Poll)
			continue
		}
		pause = firstPause
		if err := w.run(w.host.Handling, b); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// batch is what one claim leased.
type batch struct {
	consumer int32
	ids      []int64
	cts      []int32
	ats      []time.Time
	within   time.Duration
}

// claim returns nil where nothing is due.
func (w *worker) claim(ctx context.Context) (*batch, error) {
	if w.conn == nil || w.conn.IsClosed() {
		conn, err := w.connect(ctx)
		if err != nil {
			return nil, err
		}
		w.conn = conn
	}
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	b := new(batch)
	var ms int64
	err := w.conn.QueryRow(ctx, `select c.consumer_id, coalesce(c.ids, '{}'), coalesce(c.cts, '{}'), coalesce(c.ats, '{}'),
		(extract(epoch from c.within) * 1000)::bigint from core_node.claim_sql($1, p_limit => $2) c`, string(w.host.Namespace), atOnce).
		Scan(&b.consumer, &b.ids, &b.cts, &b.ats, &ms)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		w.drop()
		return nil, db.Error(ctx, "claim_sql", err)
	}
	b.within = time.Duration(ms) * time.Millisecond
	return b, nil
}

// run has handlers called for a batch, and if that fails as a whole, for each of its events. An error is one of the connection.
func (w *worker) run(ctx context.Context, b *batch) error {
	if len(b.ids) == 0 {
		return nil // what was due went to the dead letters
	}
	err := w.exec(ctx, b)
	var said *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &said) || w.conn == nil:
		// The connection went with it, or a handler held on to it beyond its time. The leases end by themselves.
		w.drop()
		w.host.Logger.Warn("sql handler: connection lost", "consumer_id", b.consumer, "error", err)
		return nil
	}
	if len(b.ids) > 1 {
		for i := range b.ids {
			one := &batch{consumer: b.consumer, ids: b.ids[i : i+1], cts: b.cts[i : i+1], ats: b.ats[i : i+1], within: b.within}
			if err := w.run(ctx, one); err != nil {
				return err
			}
		}
		return nil
	}
	return w.fail(ctx, b, said)
}

// exec is one transaction of handlers. Afterwards the session is as it was at first, or gone.
func (w *worker) exec(ctx context.Context, b *batch) error {
	limit := b.within + budget
	ctx, cancel := context.WithTimeout(ctx, limit+margin)
	defer cancel()
	_, err := w.conn.Exec(ctx, "set statement_timeout = "+strconv.FormatInt(limit.Milliseconds(), 10), pgx.QueryExecModeSimpleProtocol)
	var handled, retried, buried, released, lost int32
	if err == nil {
		err = w.conn.QueryRow(ctx, `select r.handled, r.retried, r.buried, r.released, r.lost from core_node.run_sql($1, $2, $3, $4, $5) r`,
			b.consumer, w.host.NodeID, b.ids, b.cts, b.ats).Scan(&handled, &retried, &buried, &released, &lost)
	}
	if err == nil && retried+buried+lost > 0 {
		w.host.Logger.Info("sql handler", "consumer_id", b.consumer, "handled", handled, "retried", retried, "buried", buried, "released", released, "lost", lost)
	}
	if _, e := w.conn.Exec(ctx, "discard all", pgx.QueryExecModeSimpleProtocol); e != nil {
		w.drop()
	}
	if err != nil {
		return db.Error(ctx, "run_sql", err)
	}
	return nil
}

func (w *worker) fail(ctx context.Context, b *batch, said *pgconn.PgError) error {
	if said.Code == "NX301" {
		return nil // somebody else has it
	}
	text := said.Code + ": " + said.Message
	if said.Detail != "" {
		text += "\nDETAIL: " + said.Detail
	}
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	_, err := w.conn.Exec(ctx, `select core_node.fail_sql($1, $2, $3, $4, $5, $6, $7)`, b.consumer, w.host.NodeID, b.ids, b.cts, b.ats, "commit", text[:min(len(text), errorMaxText)])
	if err != nil {
		w.drop()
		return db.Error(ctx, "fail_sql", err)
	}
	return nil
}
