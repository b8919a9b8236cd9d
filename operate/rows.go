package operate

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// rows reads all that a select returns into a slice, by the names of its columns.
func rows(ctx context.Context, q nexus.DBTX, op, sql string, into any, args ...any) error {
	var list string
	if err := db.Call(ctx, q, op, "select coalesce(pg_catalog.json_agg(t), '[]')::text from ("+sql+") t", args, &list); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(list), into); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// finite is a column of times without infinity, which people write by hand and Go has no time for.
func finite(column string) string {
	return "case when pg_catalog.isfinite(" + column + ") then " + column + " end as " + column
}
