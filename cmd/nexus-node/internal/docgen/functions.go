package docgen

import (
	"context"
	"fmt"
	"strings"
)

type function struct {
	Name, Arguments, Result, Comment, Roles string
}

// Functions describes the public functions: how they are called, what they return and which of Nexus's roles may.
func Functions(ctx context.Context, q Querier) (string, error) {
	all, err := collect[function](ctx, q, `
		select p.pronamespace::regnamespace || '.' || p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
		       coalesce(obj_description(p.oid, 'pg_proc'), ''),
		       coalesce((select string_agg(distinct case a.grantee when 0 then 'everybody' else a.grantee::regrole::text end, ', ')
		                   from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
		                  where a.privilege_type = 'EXECUTE' and a.grantee <> p.proowner), '')
		  from pg_catalog.pg_proc p
		 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace)
		 order by p.pronamespace::regnamespace::text collate "C", p.proname collate "C", pg_get_function_identity_arguments(p.oid) collate "C"`)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# Functions\n\n" + generated)
	b.WriteString("The functions of schema `core`, which are for everybody, and of `core_node`, the protocol between a node and the database. Arguments can be given by name. A role may also call what is open to the roles it is a member of.\n")
	for _, f := range all {
		fmt.Fprintf(&b, "\n## %s\n\n```\n%s(%s)\n  returns %s\n```\n", f.Name, f.Name, f.Arguments, f.Result)
		if f.Comment != "" {
			fmt.Fprintf(&b, "\n%s\n", f.Comment)
		}
		if f.Roles == "" {
			f.Roles = "only the owner"
		}
		fmt.Fprintf(&b, "\nMay be called by: %s.\n", f.Roles)
	}
	return b.String(), nil
}
