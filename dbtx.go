package nexus

import (
	"context"
	"database/sql"
	"reflect"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// DBTX is where a call runs. pgx.Tx, *pgxpool.Pool, *pgxpool.Conn and *pgx.Conn are one as they are; [SQL] makes one of
// database/sql. A single method is enough because each call of the module is one statement that returns one row: atomic on a
// pool, part of your transaction on a transaction.
type DBTX interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// SQL makes a [DBTX] of a *sql.Tx, *sql.DB or *sql.Conn, or of what an ORM keeps inside its own transaction (bun: tx.Tx,
// gorm: tx.Statement.ConnPool). The driver must be github.com/jackc/pgx/v5/stdlib, in any of its query modes, and the method
// must pass query and arguments on as they are; bun's own QueryRowContext rewrites placeholders and will not do.
// A nil pointer makes a nil DBTX, which every call refuses with [ErrInvalid].
func SQL(q interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) DBTX {
	if v := reflect.ValueOf(q); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return sqlDBTX{q}
}

type sqlDBTX struct {
	q interface {
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	}
}

// QueryRow makes s a DBTX.
func (s sqlDBTX) QueryRow(ctx context.Context, query string, args ...any) pgx.Row {
	return sqlRow{s.q.QueryRowContext(ctx, query, args...)}
}

type sqlRow struct{ row *sql.Row }

// Scan lends database/sql the decoders of pgx for what it cannot convert itself: arrays, intervals, jsonb kept raw. The
// driver hands such values over as text, whatever format came over the wire.
func (r sqlRow) Scan(dest ...any) error {
	var types *pgtype.Map // not safe for concurrent use, so one a row, and none if nothing asks for it
	scan := make([]any, len(dest))
	for i, d := range dest {
		scan[i] = d
		if native(d) {
			continue
		}
		if types == nil {
			types = newTypes()
		}
		if _, ok := types.TypeForValue(d); ok {
			scan[i] = types.SQLScanner(d)
		}
	}
	return r.row.Scan(scan...)
}

// native reports whether database/sql scans into d by itself. Times must stay with it: the driver has decoded those, and
// the text decoders would be given a value that is no text.
func native(d any) bool {
	switch d.(type) {
	case *string, **string, *[]byte, *bool, **bool, *int, *int16, *int32, *int64, **int64, *float64, **float64,
		*time.Time, **time.Time, *any, sql.Scanner:
		return true
	}
	return false
}

func newTypes() *pgtype.Map {
	m := pgtype.NewMap()
	m.RegisterDefaultPgType(uuid.UUID{}, "uuid")
	m.RegisterDefaultPgType([]uuid.UUID(nil), "_uuid")
	m.RegisterDefaultPgType((*[]uuid.UUID)(nil), "_uuid")
	return m
}
