package schedule_test

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

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

func connect(t *testing.T, config *pgx.ConnConfig) *pgx.Conn {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}
