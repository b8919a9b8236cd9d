package sqlwork

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/internal/db"
)

// undoTime is how long a function may take that undoes a step; the database leases it for a minute more.
const undoTime = 5 * time.Minute

// undo has the next step undone, of a run whose compensations in SQL are due; false if there is none. An error is one of the connection.
func (s *session) undo(ctx context.Context) (bool, error) {
	var run, token uuid.UUID
	var epoch int32
	claim, cancel := context.WithTimeout(ctx, exchange)
	err := s.conn.QueryRow(claim, `select c.run_id, c.epoch, c.token from core_node.claim_undo($1) c`, pgx.QueryExecModeExec, string(s.namespace)).Scan(&run, &epoch, &token)
	cancel()
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, db.Error(ctx, "claim_undo", err)
	}
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), undoTime+margin)
	defer cancel()
	var outcome string
	_, err = s.conn.Exec(ctx, "set statement_timeout = "+strconv.FormatInt(undoTime.Milliseconds(), 10), pgx.QueryExecModeSimpleProtocol)
	if err == nil {
		err = s.conn.QueryRow(ctx, `select core_node.run_undo($1, $2, $3)`, pgx.QueryExecModeExec, run, epoch, token).Scan(&outcome)
	}
	if _, e := s.conn.Exec(ctx, "discard all", pgx.QueryExecModeSimpleProtocol); e != nil {
		s.drop()
	}
	var said *pgconn.PgError
	switch {
	case err == nil:
		s.log.Info("workflow: undone in SQL", "run_id", run, "outcome", outcome)
		return true, nil
	case !errors.As(err, &said) || s.conn == nil:
		s.drop() // the lease ends by itself
		s.log.Warn("workflow: connection lost while a step was undone", "run_id", run, "error", err)
		return true, nil
	}
	text := said.Code + ": " + said.Message
	if err := s.conn.QueryRow(ctx, `select core_node.fail_undo($1, $2, $3, $4)`, pgx.QueryExecModeExec, run, epoch, token, text[:min(len(text), errorMaxText)]).Scan(&outcome); err != nil {
		s.drop()
		return true, db.Error(ctx, "fail_undo", err)
	}
	return true, nil
}
