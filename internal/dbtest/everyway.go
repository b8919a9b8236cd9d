package dbtest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/nexuspg/nexus"
)

// EveryWay runs test as pool's login, on a pgx connection and on database/sql, in each of pgx's query modes.
func EveryWay(t *testing.T, pool *pgxpool.Pool, test func(t *testing.T, q nexus.DBTX)) {
	t.Helper()
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		config := pool.Config().ConnConfig.Copy()
		config.DefaultQueryExecMode = mode
		t.Run("pgx/"+mode.String(), func(t *testing.T) {
			conn, err := pgx.ConnectConfig(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			test(t, conn)
		})
		t.Run("sql/"+mode.String(), func(t *testing.T) {
			std := stdlib.OpenDB(*config)
			defer std.Close()
			test(t, nexus.SQL(std))
		})
	}
}
