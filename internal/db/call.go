// Package db is the seam to Postgres: how a function of the schema is called and how its refusals become [nexus.Error].
//
// Calls must work on every [nexus.DBTX]: pgx in each of its query modes, the simple protocol among them, and database/sql.
// Two habits make that so. Every parameter is sent as text, a number, a boolean or an array of those, and cast in the
// statement ("$3::text::jsonb"), because only then do all modes agree on its type. And every call returns one row of plain
// columns, with sets folded into arrays.
package db

import (
	"context"
	"reflect"

	"github.com/nexuspg/nexus"
)

// Call runs a statement that returns one row and scans it into dest. op names the SQL function in errors.
func Call(ctx context.Context, q nexus.DBTX, op, sql string, args []any, dest ...any) error {
	if err := Given(op, q); err != nil {
		return err
	}
	if err := keepable(ctx, q, op, sql, args); err != nil {
		return err
	}
	return ErrorOn(ctx, q, op, q.QueryRow(ctx, sql, args...).Scan(dest...))
}

// Given refuses a q that is nil, in whatever disguise.
func Given(op string, q nexus.DBTX) error {
	if v := reflect.ValueOf(q); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return &nexus.Error{
			Op: op, Code: nexus.CodeArgumentValue, Field: "q", Message: "q is nil, so there is no database to ask",
			Hint: "give a pool, a connection or a transaction that was opened without an error",
		}
	}
	return nil
}

// Do calls a function that returns nothing. call is the function with its arguments, "core.ack($1::text, …)".
func Do(ctx context.Context, q nexus.DBTX, op, call string, args ...any) error {
	// A column of type void cannot be scanned alike everywhere; a row of it in FROM is just a row.
	var done bool
	return Call(ctx, q, op, "select true from "+call, args, &done)
}
