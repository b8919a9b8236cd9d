package docgen

import (
	"context"
	"fmt"
	"strings"
)

type column struct {
	Table, Kind, TableComment string
	Name, Type                string
	Nullable                  bool
	Default, Comment          string
}

// Tables describes the public tables and views, column by column. Partitions are left out: their names depend on the month.
func Tables(ctx context.Context, q Querier) (string, error) {
	all, err := collect[column](ctx, q, `
		select c.relname::text, case c.relkind when 'v' then 'view' when 'p' then 'table, partitioned' else 'table' end,
		       coalesce(obj_description(c.oid, 'pg_class'), ''),
		       a.attname::text, format_type(a.atttypid, a.atttypmod), not a.attnotnull,
		       coalesce(pg_get_expr(d.adbin, d.adrelid), ''), coalesce(col_description(c.oid, a.attnum), '')
		  from pg_catalog.pg_class c
		  join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
		  left join pg_catalog.pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
		 where c.relnamespace = 'core'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
		 order by c.relkind = 'v', c.relname collate "C", a.attnum`)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# Tables and views\n\n" + generated)
	b.WriteString("What schema `core` holds. Readers (`nexus_reader`) see the rows of the namespaces they may see.\n")
	last := ""
	for _, c := range all {
		if c.Table != last {
			last = c.Table
			fmt.Fprintf(&b, "\n## core.%s (%s)\n", c.Table, c.Kind)
			if c.TableComment != "" {
				fmt.Fprintf(&b, "\n%s\n", c.TableComment)
			}
			b.WriteString("\n| column | type | |\n|---|---|---|\n")
		}
		// Postgres records no "not null" for the columns of views.
		typ := c.Type
		if c.Kind != "view" && !c.Nullable {
			typ += " not null"
		}
		if c.Default != "" {
			typ += " = " + c.Default
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", c.Name, cell(typ), cell(c.Comment))
	}
	return b.String(), nil
}
