package migrate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus"
)

// settings hold for the whole transaction, whatever the login or the database sets. Names have to be qualified, bodies of
// functions are checked by tests and not in the order in which files happen to be applied, and partitions begin at UTC
// midnight whatever the zone of the installer.
const settings = `set local role none;
set local search_path = pg_catalog, pg_temp;
set local timezone = 'UTC';
set local datestyle = 'ISO';
set local intervalstyle = 'postgres';
set local standard_conforming_strings = on;
set local quote_all_identifiers = off;
set local bytea_output = 'hex';
set local row_security = on;
set local transform_null_equals = off;
set local client_min_messages = warning;
set local check_function_bodies = off;
set local statement_timeout = 0;
set local idle_in_transaction_session_timeout = 0;
set local lock_timeout = 0;
`

// The key of the advisory lock, in the space of two integers; the first spells "nexs".
const (
	lockClass  = 0x6e657873
	lockObject = 1
)

// session is the transaction of one call.
type session struct {
	tx   pgx.Tx
	role string // that was set, "" for the installer
	path string // the search_path of the session
}

func begin(ctx context.Context, conn *pgx.Conn, mode pgx.TxAccessMode) (*session, error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: mode})
	if err != nil {
		return nil, wrap("begin", err)
	}
	s := &session{tx: tx}
	if err := tx.QueryRow(ctx, `select pg_catalog.current_setting('search_path')`, pgx.QueryExecModeExec).Scan(&s.path); err != nil {
		s.rollback()
		return nil, wrap("begin", err)
	}
	if _, err := tx.Exec(ctx, settings); err != nil {
		s.rollback()
		return nil, wrap("begin", err)
	}
	return s, nil
}

// rollback ends the transaction if it is still open. It has a context of its own: the caller's may be over.
func (tx *session) rollback() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	// A failed rollback closes the connection, and that rolls back too.
	_ = tx.tx.Rollback(ctx)
}

// commit puts the session's search_path back first: functions of pg_partman set it for good, to what holds in the transaction.
func (tx *session) commit(ctx context.Context) error {
	if _, err := tx.tx.Exec(ctx, `select set_config('search_path', $1, false)`, pgx.QueryExecModeExec, tx.path); err != nil {
		return wrap("commit", err)
	}
	return wrap("commit", tx.tx.Commit(ctx))
}

// lock waits for other installers of this database.
func (tx *session) lock(ctx context.Context, o options) error {
	var got bool
	err := tx.tx.QueryRow(ctx, `select pg_try_advisory_xact_lock($1::integer, $2::integer)`,
		pgx.QueryExecModeExec, lockClass, lockObject).Scan(&got)
	if err != nil || got {
		return wrap("lock", err)
	}
	holders := tx.holders(ctx, true, time.Now())
	o.Logger.Info("waiting for the lock of installers of this database", "holder", describe(holders), "at_most", o.Wait)
	start := time.Now()
	_, err = tx.tx.Exec(ctx, fmt.Sprintf(`set local lock_timeout = %d; select pg_advisory_xact_lock(%d, %d); set local lock_timeout = 0`,
		o.Wait.Milliseconds(), lockClass, lockObject))
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == lockTimedOut {
		return &nexus.Error{
			Op: "migrate", Code: refused.Code, Err: err,
			Message: fmt.Sprintf("the lock of installers did not come within %v. Held by %s", o.Wait, describe(holders)),
			Hint:    letGo(holders) + " An installer that is ended leaves nothing behind.",
		}
	}
	if err != nil {
		return wrap("lock", err)
	}
	o.Logger.Info("the lock of installers is free", "waited", time.Since(start).Round(time.Millisecond))
	return nil
}

// as runs f as another role and returns to the installer.
func (tx *session) as(ctx context.Context, role string, f func() error) error {
	if err := tx.become(ctx, role); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return tx.become(ctx, "")
}

func (tx *session) become(ctx context.Context, role string) error {
	if role == tx.role {
		return nil
	}
	if _, err := tx.tx.Exec(ctx, becomeSQL(role)); err != nil {
		return wrap("become "+role, err)
	}
	tx.role = role
	return nil
}

func becomeSQL(role string) string {
	if role == "" {
		return "set local role none;"
	}
	return "set local role " + pgx.Identifier{role}.Sanitize() + ";"
}

// run carries the steps out.
func (tx *session) run(ctx context.Context, log *slog.Logger, steps []step) error {
	for _, s := range steps {
		if s.title != "" {
			log.Debug("apply", "step", s.title)
		}
		if err := tx.become(ctx, s.role); err != nil {
			return err
		}
		if _, err := tx.tx.Exec(ctx, s.sql); err != nil {
			return s.failure(err)
		}
		if status := tx.tx.Conn().PgConn().TxStatus(); status != 'T' {
			return fmt.Errorf("migrate: %s ended the transaction", s.name())
		}
	}
	return tx.become(ctx, "")
}

// failure tells which line of which file the server refused.
func (s step) failure(err error) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return wrap(s.name(), err)
	}
	where := s.name()
	if refused.Position > 0 {
		runes := []rune(s.sql)
		before := string(runes[:min(int(refused.Position)-1, len(runes))])
		where = fmt.Sprintf("%s:%d", where, 1+strings.Count(before, "\n"))
	}
	return &nexus.Error{
		Op: "migrate", Code: refused.Code, Message: where + ": " + refused.Message, Field: s.name(),
		Detail: refused.Detail, Hint: refused.Hint, Err: err,
	}
}

// wrap names what was being done; errors of the server become a *nexus.Error.
func wrap(doing string, err error) error {
	var refused *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return &nexus.Error{
			Op: "migrate", Code: refused.Code, Message: doing + ": " + refused.Message,
			Detail: refused.Detail, Hint: refused.Hint, Err: err,
		}
	default:
		return fmt.Errorf("migrate: %s: %w", doing, err)
	}
}
