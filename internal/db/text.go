package db

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/nexuspg/nexus"
)

const textHint = "Postgres keeps text as UTF-8 without NUL; encode other bytes, for example as base64"

// unkept says why Postgres does not keep v as it is, "" if it does.
func unkept(v string) string {
	switch {
	case !utf8.ValidString(v):
		return "is not valid UTF-8"
	case strings.IndexByte(v, 0) >= 0:
		return "holds a NUL character"
	}
	return ""
}

// keepable refuses text among the arguments of a call that Postgres would refuse: it names no argument, and takes the transaction along.
func keepable(ctx context.Context, q nexus.DBTX, op, sql string, args []any) error {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			if what := unkept(arg); what != "" {
				return refuseText(op, parameter(ctx, q, sql, i+1), what, arg)
			}
		case []string:
			for n, v := range arg {
				if what := unkept(v); what != "" {
					return refuseText(op, fmt.Sprintf("%s[%d]", parameter(ctx, q, sql, i+1), n+1), what, v)
				}
			}
		}
	}
	return nil
}

func refuseText(op, field, what, value string) error {
	return &nexus.Error{
		Op: op, Code: nexus.CodeArgumentValue, Message: fmt.Sprintf("%s %s: %q", field, what, clip(value)), Field: field, Hint: textHint,
	}
}

var aCall = regexp.MustCompile(`\b(core|core_node)\.(\w+)\(`)

// parameter is the name that the function which sql calls has for what it gets from $n. The database is asked for it, since who is refused can wait.
func parameter(ctx context.Context, q nexus.DBTX, sql string, n int) string {
	for _, at := range aCall.FindAllStringSubmatchIndex(sql, -1) {
		place := placeOf(sql[at[1]:], fmt.Sprintf("$%d::", n))
		if place == 0 {
			continue
		}
		name := ""
		err := q.QueryRow(ctx, `select coalesce(max(p.proargnames[$3::text::int]), '')
			from pg_catalog.pg_proc p join pg_catalog.pg_namespace s on s.oid = p.pronamespace
			where s.nspname = $1::text and p.proname = $2::text`, sql[at[2]:at[3]], sql[at[4]:at[5]], fmt.Sprint(place)).Scan(&name)
		if err == nil && name != "" {
			return name
		}
	}
	return fmt.Sprintf("argument %d", n)
}

// placeOf is the place, from 1 on, of the argument that holds mark in a list of arguments up to its closing parenthesis; 0 if none does.
func placeOf(list, mark string) int {
	place, depth := 1, 0
	for i, c := range list {
		switch {
		case strings.HasPrefix(list[i:], mark):
			return place
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			return 0
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			place++
		}
	}
	return 0
}
