package sqlwork

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Counts are what became of events.
type Counts struct{ Handled, Retried, Buried, Released int }

func (c *Counts) add(o Counts) {
	c.Handled += o.Handled
	c.Retried += o.Retried
	c.Buried += o.Buried
	c.Released += o.Released
}

// All is how many there were.
func (c Counts) All() int { return c.Handled + c.Retried + c.Buried + c.Released }

// session runs handlers on a connection: those of anybody, as [Login], or those of its own user.
type session struct {
	conn      *pgx.Conn // nil once it cannot be used
	own       bool
	namespace nexus.Namespace
	runner    string // as whom failures are noted, of a session that is not its own's
	log       *slog.Logger
	last      *int32 // the consumer that came last
	did       Counts
}

// drop closes the connection, on which something may be left.
func (s *session) drop() {
	if s.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.conn.Close(ctx)
		s.conn = nil
	}
}

// batch is what one claim leased.
type batch struct {
	consumer int32
	owner    uint32 // 0 where the session is its own's
	ids      []int64
	cts      []int32
	ats      []time.Time
	within   time.Duration
}

// claim returns nil where nothing is due.
func (s *session) claim(ctx context.Context, limit int) (*batch, error) {
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	op, sql := "claim_sql", `select c.consumer_id, c.owner, coalesce(c.ids, '{}'), coalesce(c.cts, '{}'), coalesce(c.ats, '{}'),
		(extract(epoch from c.within) * 1000)::bigint, c.buried from core_node.claim_sql($1, p_limit => $2, p_after => $3) c`
	args := []any{pgx.QueryExecModeExec, string(s.namespace), limit, s.last}
	if s.own {
		args = args[:3]
		op, sql = "claim_own", `select c.consumer_id, 0::oid, coalesce(c.ids, '{}'), coalesce(c.cts, '{}'), coalesce(c.ats, '{}'),
			(extract(epoch from c.within) * 1000)::bigint, c.buried from core_node.claim_own($1, $2) c`
	}
	b := new(batch)
	var ms int64
	var buried int
	err := s.conn.QueryRow(ctx, sql, args...).
		Scan(&b.consumer, &b.owner, &b.ids, &b.cts, &b.ats, &ms, &buried)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, db.Error(ctx, op, err)
	}
	s.did.Buried += buried
	s.last = &b.consumer
	b.within = time.Duration(ms) * time.Millisecond
	return b, nil
}

// run has handlers called for a batch, and if that fails as a whole, for each of its events. An error is one of the connection.
func (s *session) run(ctx context.Context, b *batch) error {
	if len(b.ids) == 0 {
		return nil // what was due went to the dead letters
	}
	err := s.exec(ctx, b)
	var said *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &said) || s.conn == nil:
		// The connection went with it, or a handler held on to it beyond its time. The leases end by themselves.
		s.drop()
		s.log.Warn("sql handler: connection lost", "consumer_id", b.consumer, "error", err)
		return nil
	}
	if len(b.ids) > 1 {
		for i := range b.ids {
			if s.conn == nil {
				return nil
			}
			one := &batch{consumer: b.consumer, owner: b.owner, ids: b.ids[i : i+1], cts: b.cts[i : i+1], ats: b.ats[i : i+1], within: b.within}
			if err := s.run(ctx, one); err != nil {
				return err
			}
		}
		return nil
	}
	return s.fail(ctx, b, said)
}

// exec is one transaction of handlers. Afterwards the session is as it was at first, or gone.
func (s *session) exec(ctx context.Context, b *batch) error {
	limit := b.within + budget
	ctx, cancel := context.WithTimeout(ctx, limit+margin)
	defer cancel()
	op, sql, args := "run_sql", `select r.handled, r.retried, r.buried, r.released, r.lost from core_node.run_sql($1, $2, $3, $4, $5, p_owner => $6) r`,
		[]any{pgx.QueryExecModeExec, b.consumer, s.runner, b.ids, b.cts, b.ats, b.owner}
	if s.own {
		op, sql, args = "run_own", `select r.handled, r.retried, r.buried, r.released, r.lost from core_node.run_own($1, $2, $3, $4) r`,
			[]any{pgx.QueryExecModeExec, b.consumer, b.ids, b.cts, b.ats}
	}
	_, err := s.conn.Exec(ctx, "set statement_timeout = "+strconv.FormatInt(limit.Milliseconds(), 10), pgx.QueryExecModeSimpleProtocol)
	var did Counts
	var lost int
	if err == nil {
		err = s.conn.QueryRow(ctx, sql, args...).Scan(&did.Handled, &did.Retried, &did.Buried, &did.Released, &lost)
	}
	if err == nil {
		s.did.add(did)
		if !s.own && did.Retried+did.Buried+lost > 0 { // who works on his own is told the sums
			s.log.Info("sql handler", "consumer_id", b.consumer, "handled", did.Handled, "retried", did.Retried, "buried", did.Buried, "released", did.Released, "lost", lost)
		}
	}
	if _, e := s.conn.Exec(ctx, "discard all", pgx.QueryExecModeSimpleProtocol); e != nil {
		s.drop()
	}
	if err != nil {
		return db.Error(ctx, op, err)
	}
	return nil
}

func (s *session) fail(ctx context.Context, b *batch, said *pgconn.PgError) error {
	if said.Code == "NX301" {
		return nil // somebody else has it
	}
	text := said.Code + ": " + said.Message
	if said.Detail != "" {
		text += "\nDETAIL: " + said.Detail
	}
	text = text[:min(len(text), errorMaxText)]
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	op, sql, args := "fail_sql", `select coalesce(core_node.fail_sql($1, $2, $3, $4, $5, $6, $7, $8)::text, '')`,
		[]any{pgx.QueryExecModeExec, b.consumer, s.runner, b.ids, b.cts, b.ats, "commit", text, b.owner}
	if s.own {
		op, sql, args = "fail_own", `select f.outcome from core_node.fail_own($1, $2, $3, $4, $5) f`,
			[]any{pgx.QueryExecModeExec, b.consumer, b.ids, b.cts, b.ats, text}
	}
	var outcome string // of fail_sql there is none
	switch err := s.conn.QueryRow(ctx, sql, args...).Scan(&outcome); {
	case errors.Is(err, pgx.ErrNoRows):
		return nil // somebody else has it
	case err != nil:
		s.drop()
		return db.Error(ctx, op, err)
	}
	if outcome == "buried" {
		s.did.Buried++
	} else {
		s.did.Retried++
	}
	return nil
}
