// Package docgen writes the reference pages that a database can tell by itself: the functions of the core, its tables and views,
// and its error codes. They come from the catalog of a migrated database, so that they say what is there and not what was meant;
// its test compares them with the committed pages.
package docgen

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Querier is a pool or connection of a role that may read the catalog.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Page is one generated page.
type Page struct {
	Name  string // of the file under docs/reference
	Write func(ctx context.Context, q Querier) (string, error)
}

// Pages are all of them.
var Pages = []Page{
	{"functions.md", Functions},
	{"tables.md", Tables},
	{"errors.md", Errors},
	{"metrics.md", Metrics},
}

const generated = "<!-- Generated from the database by `make docs`. -->\n\n"

// cell makes text fit a cell of a Markdown table.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

func collect[T any](ctx context.Context, q Querier, query string) ([]T, error) {
	rows, err := q.Query(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("docgen: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	if err != nil {
		return nil, fmt.Errorf("docgen: %w", err)
	}
	return all, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
