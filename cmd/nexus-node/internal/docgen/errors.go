package docgen

import (
	"context"
	"fmt"
	"strings"
)

type code struct{ Code, Meaning, Mend string }

var families = map[string]string{
	"NX0": "invalid argument",
	"NX1": "not found",
	"NX2": "conflict",
	"NX3": "lease lost",
	"NX4": "forbidden",
	"NX5": "schema",
	"NX6": "limit",
	"NX7": "verdict of an SQL handler",
}

// Errors lists the error codes by family, with what they mean and what mends them.
func Errors(ctx context.Context, q Querier) (string, error) {
	all, err := collect[code](ctx, q, `select code, meaning, remedy from core.error_codes order by code collate "C"`)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# Error codes\n\n" + generated)
	b.WriteString("Each refusal has an SQLSTATE of class NX. psql shows it after `\\set VERBOSITY verbose`; in Go it is `Error.Code`.\n")
	last := ""
	for _, c := range all {
		if family := c.Code[:3]; family != last {
			last = family
			name, known := families[family]
			if !known {
				return "", fmt.Errorf("docgen: %s belongs to no family", c.Code)
			}
			fmt.Fprintf(&b, "\n## %s: %s\n\n| code | meaning | what to do |\n|---|---|---|\n", family, name)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.Code, cell(c.Meaning), cell(c.Mend))
	}
	return b.String(), nil
}
