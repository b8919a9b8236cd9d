package dbtest

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// EnvPgmq chooses the pgmq of the tests: a version of the extension that the server has, or a file that ends in .sql for an
// installation without the extension. Unset, it is the server's default.
const EnvPgmq = "NEXUS_TEST_PGMQ"

// choosePgmq installs the pgmq that EnvPgmq names, unless one is there already; Nexus then finds it.
func choosePgmq(ctx context.Context, pool *pgxpool.Pool) error {
	choice := os.Getenv(EnvPgmq)
	if choice == "" {
		return nil
	}
	var there bool
	if err := pool.QueryRow(ctx, "select to_regnamespace('pgmq') is not null").Scan(&there); err != nil || there {
		return err
	}
	if strings.HasSuffix(choice, ".sql") {
		text, err := os.ReadFile(choice) //nolint:gosec // the path is that of whoever runs the tests
		if err != nil {
			return err
		}
		_, err = pool.Exec(ctx, string(text), pgx.QueryExecModeSimpleProtocol)
		return err
	}
	_, err := pool.Exec(ctx, fmt.Sprintf("create extension pgmq version %s", pgx.Identifier{choice}.Sanitize()))
	return err
}
