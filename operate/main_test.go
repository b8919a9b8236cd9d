package operate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

const (
	ns        = "shop"
	mainQueue = "core_events_shop"
)

func newDB(t *testing.T) *dbtest.DB {
	t.Helper()
	db := dbtest.New(t)
	db.Namespace(ns)
	return db
}

// everyWay runs test as the owner on pgx and on database/sql, with and without prepared statements.
func everyWay(t *testing.T, db *dbtest.DB, test func(t *testing.T, q nexus.DBTX)) {
	t.Helper()
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeSimpleProtocol} {
		config := db.Owner.Config().ConnConfig.Copy()
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

func wantError(t *testing.T, err, family error, code string) {
	t.Helper()
	if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != code || !errors.Is(err, family) {
		t.Errorf("got %v, want %s", err, code)
	}
}
