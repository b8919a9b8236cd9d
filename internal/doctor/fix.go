package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/db"
)

// Fixed is what became of one line of Check.Fix.
type Fixed struct {
	Check  string `json:"check"`
	SQL    string `json:"sql"`
	Result string `json:"result,omitempty"` // what its function returned
	Error  string `json:"error,omitempty"`
}

// Fixes are the lines that Fix would begin with, each once.
func Fixes(checks []Check) []Fixed { return unlike(nil, checks) }

// unlike are the lines of the checks that done does not have.
func unlike(done []Fixed, checks []Check) []Fixed {
	var fixes []Fixed
	for _, c := range checks {
		for _, sql := range c.Fix {
			same := func(f Fixed) bool { return f.SQL == sql }
			if !slices.ContainsFunc(done, same) && !slices.ContainsFunc(fixes, same) {
				fixes = append(fixes, Fixed{Check: c.Name, SQL: sql})
			}
		}
	}
	return fixes
}

// Fix runs the safe mends of the checks in their order, and looks again. What mends one thing may lay bare another, so it goes on
// with lines that it has not run yet. One that fails stops no other. It returns what it ran and the checks as they are then, and
// fails only if ctx ends.
func Fix(ctx context.Context, pool *pgxpool.Pool, checks []Check) ([]Fixed, []Check, error) {
	var done []Fixed
	for {
		fixes := unlike(done, checks)
		if len(fixes) == 0 {
			return done, checks, nil
		}
		for _, f := range fixes {
			var err error
			if f.Result, err = runLine(ctx, pool, f.SQL); err != nil {
				f.Error = db.Error(ctx, f.Check, err).Error()
			}
			if err := ctx.Err(); err != nil {
				return done, checks, err
			}
			done = append(done, f)
		}
		var err error
		if checks, err = Run(ctx, pool); err != nil {
			return done, checks, err
		}
	}
}

// runLine runs one line, in one transaction. A sweep that failed returns so, and does not raise it. pg_partman leaves settings behind
// in a session, so this one ends.
func runLine(ctx context.Context, pool *pgxpool.Pool, sql string) (string, error) {
	borrowed, err := pool.Acquire(ctx)
	if err != nil {
		return "", err
	}
	conn := borrowed.Hijack()
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	results, err := conn.PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		return "", err
	}
	result := ""
	for _, r := range results {
		if len(r.Rows) > 0 {
			result = string(r.Rows[0][0])
		}
	}
	var sweep struct{ Error string }
	if json.Unmarshal([]byte(result), &sweep) == nil && sweep.Error != "" {
		return "", errors.New(sweep.Error)
	}
	return result, nil
}
