package demo

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"
)

// table prints what a query returns, under the names of its columns.
func (d *demo) table(ctx context.Context, title, sql string) error {
	rows, err := d.owner.Query(ctx, sql, pgx.QueryExecModeSimpleProtocol) // in which all values come as text
	if err != nil {
		return err
	}
	defer rows.Close()
	d.say("\n%s:", title)
	w := tabwriter.NewWriter(d.Out, 0, 0, 2, ' ', 0)
	var names []string
	for _, f := range rows.FieldDescriptions() {
		names = append(names, f.Name)
	}
	line := func(cells []string) { fmt.Fprintf(w, "  %s\n", strings.Join(cells, "\t")) }
	line(names)
	for rows.Next() {
		var cells []string
		for _, v := range rows.RawValues() {
			cells = append(cells, string(v))
		}
		line(cells)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return w.Flush()
}
