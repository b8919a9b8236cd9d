package db_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// connect connects to a server as its superuser. Most tests here are about the seam alone and leave nothing behind, so they
// need no database of their own.
func connect(t *testing.T, mode pgx.QueryExecMode) *pgx.Conn {
	t.Helper()
	return connectTo(t, dbtest.URL(t), mode)
}

func connectTo(t *testing.T, url string, mode pgx.QueryExecMode) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = mode
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}
