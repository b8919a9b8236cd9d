package schedule_test

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(cancelsFrom); url != "" {
		os.Exit(cancelAsAProcess(url))
	}
	dbtest.Main(m)
}

const ns = "shop"

func newDB(t *testing.T) *dbtest.DB {
	t.Helper()
	db := dbtest.New(t)
	db.Namespace(ns)
	return db
}

// everyWay runs test on a pgx connection and on database/sql, in each of pgx's query modes.
func everyWay(t *testing.T, db *dbtest.DB, test func(t *testing.T, q nexus.DBTX)) {
	t.Helper()
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		config := db.Pool.Config().ConnConfig.Copy()
		config.DefaultQueryExecMode = mode
		t.Run("pgx/"+mode.String(), func(t *testing.T) { test(t, connect(t, config)) })
		t.Run("sql/"+mode.String(), func(t *testing.T) {
			std := stdlib.OpenDB(*config)
			defer std.Close()
			test(t, nexus.SQL(std))
		})
	}
}

func connect(t *testing.T, config *pgx.ConnConfig) *pgx.Conn {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}
