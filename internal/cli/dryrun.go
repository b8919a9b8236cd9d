package cli

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// rolledBack runs do in a transaction and takes it back: a dry run that is refused for the same reasons as the real one,
// because it is the real one. Like that, it waits for locks, and holds them until it is taken back.
func rolledBack(ctx context.Context, pool *pgxpool.Pool, do func(nexus.DBTX) error) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return db.Error(ctx, "begin", err)
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback(context.WithoutCancel(ctx))
		return err
	}
	return db.Error(ctx, "rollback", tx.Rollback(ctx))
}

// printDone says what became of the thing that a command was given.
func (s *session) printDone(kind, name, state string) error {
	if s.format == asJSON {
		return s.printJSON(map[string]string{kind: name, "state": state})
	}
	return s.printFields([]string{kind, "state"}, []string{name, state})
}
