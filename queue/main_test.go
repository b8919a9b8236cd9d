package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/queue"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

const (
	ns        = "shop"
	mainQueue = "core_events_shop"
)

var bus = queue.Emitter{Namespace: ns}

func newDB(t *testing.T) *dbtest.DB {
	t.Helper()
	db := dbtest.New(t)
	db.Namespace(ns)
	return db
}

// unasked is where a call must not go.
type unasked struct{ t *testing.T }

func (u unasked) QueryRow(_ context.Context, sql string, _ ...any) pgx.Row {
	u.t.Helper()
	u.t.Fatalf("the database was asked: %s", sql)
	return nil
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

// claim leases one message of the main queue for a minute, as a node does.
func claim(t *testing.T, db *dbtest.DB) *nexus.Delivery {
	t.Helper()
	d := &nexus.Delivery{Event: nexus.Event{Namespace: ns}, Consumer: "default"}
	err := db.Pool.QueryRow(t.Context(), `select msg_id, read_ct, message ->> 'eventType', message -> 'payload'
		from core.claim($1, '{*}', '{0}', 1, '1 minute') where outcome = 'claimed'`, mainQueue).
		Scan(&d.MessageID, &d.Attempt, &d.Type, &d.Payload)
	if err != nil {
		t.Fatalf("claim: %v", err)
	}
	return d
}

func truncated(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
