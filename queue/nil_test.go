package queue_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/queue"
)

// A transaction that was never opened is refused by name, in whatever disguise it comes.
func TestNoDatabaseIsRefused(t *testing.T) {
	ctx := t.Context()
	e := queue.Emitter{Namespace: "shop"}
	for name, q := range map[string]nexus.DBTX{
		"nil": nil, "a nil pool": (*pgxpool.Pool)(nil), "a nil connection": (*pgx.Conn)(nil),
		"SQL of nil": nexus.SQL(nil), "SQL of a nil transaction": nexus.SQL((*sql.Tx)(nil)),
	} {
		_, emit := e.Emit(ctx, q, "x", nil, nil)
		_, batch := e.EmitBatch(ctx, q, []queue.Emission{{Type: "x"}})
		for call, err := range map[string]error{
			"Emit": emit, "EmitBatch": batch, "Ack": queue.Ack(ctx, q, &nexus.Delivery{}),
			"CreateNamespace": queue.CreateNamespace(ctx, q, "shop", nil), "DropNamespace": queue.DropNamespace(ctx, q, "shop", "shop", false),
		} {
			if refused, ok := errors.AsType[*nexus.Error](err); !ok || !errors.Is(err, nexus.ErrInvalid) || refused.Field != "q" {
				t.Errorf("%s on %s: %v; want ErrInvalid that names q", call, name, err)
			}
		}
	}
	if err := queue.Ack(ctx, (*pgxpool.Pool)(nil), nil); !errors.Is(err, nexus.ErrInvalid) {
		t.Errorf("Ack of no delivery: %v; want ErrInvalid", err)
	}
}
