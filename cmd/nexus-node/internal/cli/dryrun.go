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

// deed is what became of the thing that a command was given. A dry run says what would have.
type deed struct {
	kind, name, state string
	dry               bool
}

func (s *session) printDone(d deed) error {
	if s.format == asJSON {
		out := map[string]any{d.kind: d.name, "state": d.state}
		if d.dry {
			out["dry_run"] = true
		}
		return s.printJSON(out)
	}
	return s.printFields([]string{d.kind, "state"}, []string{d.name, d.state})
}

// would is the word for what a dry run found it could do, and the plain word otherwise.
func would(dry bool, state string) string {
	if dry {
		return "would be " + state
	}
	return state
}
