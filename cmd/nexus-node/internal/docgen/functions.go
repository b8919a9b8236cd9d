package docgen

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	nexussql "github.com/nexuspg/nexus/sql"
)

type function struct {
	Schema, Name, Arguments, Result, Comment string
	Roles                                    []string
}

// audience is who needs a part of the page.
type audience struct{ title, about string }

// audiences in the order of the page.
var (
	applications = audience{"applications", "whoever emits, schedules and follows events, by a login with `nexus_producer` or `nexus_consumer`"}
	operators    = audience{"operators", "whoever looks after a Nexus: `nexus_reader`, `nexus_operator`, `nexus_admin`"}
	upkeep       = audience{"upkeep", "what pg_cron or a node runs by itself; a person calls it to run it now"}
	nodes        = audience{"nodes", "the protocol between a node and the database, schema `core_node`; it changes with the program, and nobody else calls it"}
	audiences    = []audience{applications, operators, upkeep, nodes}
)

// audience goes by the schema, then by who may call the function.
func (f function) audience() audience {
	switch {
	case f.Schema == "core_node":
		return nodes
	case slices.Contains(f.Roles, "nexus_scheduler"), slices.Contains(f.Roles, "nexus_sql"):
		return upkeep
	case slices.Contains(f.Roles, "nexus_producer"), slices.Contains(f.Roles, "nexus_consumer"):
		return applications
	}
	return operators
}

var created = regexp.MustCompile(`(?m)^create or replace (?:function|procedure) (core(?:_node)?\.\w+)`)

// domains are the folders that the files of functions are in.
func domains() map[string]string {
	all := map[string]string{}
	for _, f := range nexussql.Functions() {
		for _, m := range created.FindAllStringSubmatch(f.Body, -1) {
			all[m[1]] = strings.Split(f.Path, "/")[1]
		}
	}
	return all
}

// Functions describes the public functions, for each audience by domain: how they are called, what they return and which of Nexus's
// roles may.
func Functions(ctx context.Context, q Querier) (string, error) {
	all, err := collect[function](ctx, q, `
		select n.nspname::text, p.proname::text, pg_get_function_arguments(p.oid), coalesce(pg_get_function_result(p.oid), 'nothing: a procedure, for CALL'),
		       coalesce(obj_description(p.oid, 'pg_proc'), ''),
		       array(select distinct case a.grantee when 0 then 'everybody' else a.grantee::regrole::text end
		               from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
		              where a.privilege_type = 'EXECUTE' and a.grantee <> p.proowner order by 1)
		  from pg_catalog.pg_proc p
		  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
		 where n.nspname in ('core', 'core_node')
		 order by p.proname collate "C", n.nspname, pg_get_function_identity_arguments(p.oid) collate "C"`)
	if err != nil {
		return "", err
	}
	folder := domains()
	parts := map[audience]map[string][]function{}
	for _, f := range all {
		domain, ok := folder[f.Schema+"."+f.Name]
		if !ok {
			return "", fmt.Errorf("docgen: no file of sql/functions or sql/extensions creates %s.%s", f.Schema, f.Name)
		}
		if parts[f.audience()] == nil {
			parts[f.audience()] = map[string][]function{}
		}
		parts[f.audience()][domain] = append(parts[f.audience()][domain], f)
	}
	var index, text strings.Builder
	for _, a := range audiences {
		byDomain := parts[a]
		if len(byDomain) == 0 {
			continue
		}
		fmt.Fprintf(&text, "\n## For %s\n\nFor %s.\n", a.title, a.about)
		var links []string
		for _, domain := range sortedKeys(byDomain) {
			links = append(links, fmt.Sprintf("[%s](#%s-for-%s)", domain, domain, a.title))
			fmt.Fprintf(&text, "\n### %s, for %s\n", domain, a.title)
			last := ""
			for _, f := range byDomain[domain] {
				name := f.Schema + "." + f.Name
				if name != last {
					fmt.Fprintf(&text, "\n#### %s\n", name)
					last = name
				}
				fmt.Fprintf(&text, "\n```\n%s(%s)\n  returns %s\n```\n", name, f.Arguments, f.Result)
				if f.Comment != "" {
					fmt.Fprintf(&text, "\n%s\n", f.Comment)
				}
				if len(f.Roles) == 0 {
					f.Roles = []string{"only the owner"}
				}
				fmt.Fprintf(&text, "\nMay be called by: %s.\n", strings.Join(f.Roles, ", "))
			}
		}
		fmt.Fprintf(&index, "| [%s](#for-%s) | %s | %s |\n", a.title, a.title, a.about, strings.Join(links, ", "))
	}
	return "# Functions\n\n" + generated +
		"Each part of this page is for one kind of reader, and has its functions by the domain that they belong to.\n" +
		"Arguments can be given by name. A role may also call what is open to the roles it is a member of.\n\n" +
		"| part | for | domains |\n|---|---|---|\n" + index.String() + text.String(), nil
}
