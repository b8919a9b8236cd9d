package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus"
)

// Postgres's own codes for a connection that could not be made and for one that broke; the driver reports such failures
// without a code, since no server was there to give one.
const (
	codeCannotConnect = "08001"
	codeConnection    = "08006"
)

// codeRestart is Postgres's own code for a transaction that lost against another one.
const codeRestart = "40001"

// Error turns what a call of op under ctx returned into what the module returns:
// a *[nexus.Error] if the server answered or the connection failed; the context's error, unwrapped, if ctx ended first; and
// whatever else went wrong (a closed transaction, a value that does not scan) with op in front.
func Error(ctx context.Context, op string, err error) error { return ErrorOn(ctx, nil, op, err) }

// ErrorOn is [Error] of a call on q, whose login it names where that lacks a right.
func ErrorOn(ctx context.Context, q any, op string, err error) error {
	if err == nil {
		return nil
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refusal(q, op, pg, err)
	}
	// Anything goes wrong on a connection whose context has ended; the end is the reason.
	if end := ctx.Err(); end != nil {
		if errors.Is(err, end) {
			return err
		}
		return fmt.Errorf("%s: %w: %w", op, end, err)
	}
	if code := connection(err); code != "" {
		return &nexus.Error{Op: op, Code: code, Message: err.Error(), Err: err}
	}
	return fmt.Errorf("%s: %w", op, err)
}

func refusal(q any, op string, pg *pgconn.PgError, err error) *nexus.Error {
	e := &nexus.Error{
		Op: op, Code: pg.Code, Message: pg.Message, Field: pg.ColumnName, Detail: pg.Detail, Hint: pg.Hint, Err: err,
	}
	if misfit(pg) {
		e.Code = nexus.CodeSchemaOlder
		e.Detail = "SQLSTATE " + pg.Code
		e.Hint = "bring the schema up to the version of this program: nexus-node migrate up"
	}
	if vanished(pg) {
		e.Code = codeRestart
		e.Detail = "SQLSTATE " + pg.Code
		e.Hint = "run the transaction again; what the call is about was dropped meanwhile, and that is then said by name"
	}
	// Postgres's own refusal has no hint; who may call a function is a matter of its duty.
	if pg.Code == "42501" && pg.Routine == "aclcheck_error" && e.Hint == "" {
		e.Hint = grantHint(op, pg, loginOf(q))
	}
	return e
}

// misfit reports whether the statement itself, not something it ran, named what the database does not have. The module
// writes its statements, so the schema must be older than the program, or be missing.
func misfit(pg *pgconn.PgError) bool {
	switch pg.Code {
	case "3F000", "42883", "42P01", "42703": // schema, function, table, column
		return pg.Position > 0
	}
	return false
}

// vanished reports whether the call found something that was dropped before it could write to it: a queue with its table, a row of Nexus that another
// one refers to.
func vanished(pg *pgconn.PgError) bool {
	switch pg.Code {
	case "XX000":
		return pg.Routine == "relation_open"
	case "23503":
		return pg.SchemaName == "core" || pg.SchemaName == "core_private"
	}
	return false
}

// connection returns the code for an error of the connection that carries none, "" if it is no such error.
func connection(err error) string {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		// A connect timeout of the configuration arrives as DeadlineExceeded; Canceled can only be the caller's.
		if errors.Is(err, context.Canceled) {
			return ""
		}
		return codeCannotConnect
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return ""
	}
	for _, broken := range []error{pgconn.ErrConnClosed, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn} {
		if errors.Is(err, broken) {
			return codeConnection
		}
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return codeConnection
	}
	return ""
}

// Unavailable reports whether err, from a call to the database, means that the server is away, refuses connections, is
// read-only or is going down: what passes if one waits. The end of a context does not count.
func Unavailable(err error) bool {
	return is(err, nexus.ErrUnavailable) || connection(err) != ""
}

// Passes reports whether err passes by itself, as core_private.is_transient judges: the server is away or short of something, a race was
// lost, a lock was not to be had in time.
func Passes(err error) bool {
	if Unavailable(err) || RestartTx(err) {
		return true
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "55P03" || strings.HasPrefix(pg.Code, "53") || strings.HasPrefix(pg.Code, "57"))
}

// OfData reports whether err is what Postgres says of something that it met in the data: a value that is too large or does not fit, or rows that
// cannot be read. Others can be served all the same.
func OfData(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && len(pg.Code) == 5 && slices.Contains([]string{"22", "23", "54", "58", "XX"}, pg.Code[:2])
}

// Unanswered reports whether err says nothing of what became of a call: the server may have done it, and the answer was lost.
func Unanswered(err error) bool {
	_, said := errors.AsType[*pgconn.PgError](err)
	return err != nil && (!said || Unavailable(err))
}

// RestartTx reports whether err says that the transaction lost against another one and may succeed if run again.
func RestartTx(err error) bool { return is(err, nexus.ErrRestartTx) }

// is asks for the family of err, whether it went through [Error] or came straight from pgx.
func is(err, family error) bool {
	if errors.Is(err, family) {
		return true
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (&nexus.Error{Code: pg.Code}).Is(family)
}
