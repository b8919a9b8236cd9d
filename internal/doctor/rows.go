package doctor

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// records are the rows of a query, each as a T whose fields are its columns in order.
func records[T any](ctx context.Context, pool *pgxpool.Pool, sql string, args ...any) ([]T, error) {
	rows, _ := pool.Query(ctx, sql, args...) // rows carry the error
	return pgx.CollectRows(rows, pgx.RowToStructByPos[T])
}

// column are the rows of a query that has one column.
func column(ctx context.Context, pool *pgxpool.Pool, sql string, args ...any) ([]string, error) {
	rows, _ := pool.Query(ctx, sql, args...)
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
