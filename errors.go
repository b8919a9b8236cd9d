package nexus

import (
	"errors"
	"strings"
)

// Error is what a call returns when the database, or the check in front of it, said no. It keeps the parts of the answer
// apart. Errors of a context are not wrapped in it.
type Error struct {
	Op      string // what was called: the SQL function without its schema, such as "emit_batch"
	Code    string // SQLSTATE: of class NX (see the Code constants) or Postgres's own; 08001 or 08006 if the connection failed
	Message string
	Field   string // the argument, option or JSON path at fault, if there is one
	Detail  string
	Hint    string // how to mend it
	Err     error  // the driver's error, a *pgconn.PgError if the server answered; nil if Go found the fault
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	b.WriteString(": ")
	b.WriteString(e.Message)
	if e.Hint != "" {
		b.WriteString(" (")
		b.WriteString(e.Hint)
		b.WriteByte(')')
	}
	b.WriteString(" [")
	b.WriteString(e.Code)
	b.WriteByte(']')
	return b.String()
}

// Unwrap returns the driver's error.
func (e *Error) Unwrap() error { return e.Err }

// SQLState returns Code, as the errors of pgx do.
func (e *Error) SQLState() string { return e.Code }

// Is reports whether target is the sentinel of the error's family.
func (e *Error) Is(target error) bool {
	for _, f := range families {
		if strings.HasPrefix(e.Code, f.prefix) {
			return target == f.err
		}
	}
	return false
}

// The families, for [errors.Is]. [Error.Code] tells the members of one apart.
var (
	ErrInvalid     = errors.New("nexus: invalid argument")     // NX0xx and Postgres's data errors, 22xxx
	ErrNotFound    = errors.New("nexus: not found")            // NX1xx
	ErrConflict    = errors.New("nexus: conflict")             // NX2xx: what exists or has happened is in the way
	ErrLeaseLost   = errors.New("nexus: lease lost")           // NX3xx; also the cause of a handler's cancelled context
	ErrForbidden   = errors.New("nexus: forbidden")            // NX4xx, 42501
	ErrSchema      = errors.New("nexus: schema does not fit")  // NX5xx
	ErrLimit       = errors.New("nexus: limit exceeded")       // NX6xx
	ErrVerdict     = errors.New("nexus: verdict of a handler") // NX7xx: what an SQL handler said of its event, outside of one
	ErrRestartTx   = errors.New("nexus: restart transaction")  // 40001, 40P01: run the whole transaction again
	ErrUnavailable = errors.New("nexus: database unavailable") // 08xxx, 25006, 53300, 57Pxx: away, read-only, full or ending
	ErrDraining    = errors.New("nexus: node is draining")     // only the cause of a handler's cancelled context
)

// families maps SQLSTATEs to sentinels by prefix. No prefix begins another one.
var families = []struct {
	prefix string
	err    error
}{
	{"NX0", ErrInvalid},
	{"22", ErrInvalid},
	{"NX1", ErrNotFound},
	{"NX2", ErrConflict},
	{"NX3", ErrLeaseLost},
	{"NX4", ErrForbidden},
	{"42501", ErrForbidden},
	{"NX5", ErrSchema},
	{"NX6", ErrLimit},
	{"NX7", ErrVerdict},
	{"40001", ErrRestartTx},
	{"40P01", ErrRestartTx},
	{"08", ErrUnavailable},
	{"25006", ErrUnavailable},
	{"53300", ErrUnavailable},
	{"57P", ErrUnavailable},
}
