// holds: I3

package migrate

import (
	"regexp"
	"slices"
	"testing"

	nexussql "github.com/nexuspg/nexus/sql"
)

// A function that is forgotten in the list can be called by nobody, a listed one that is gone is a misspelling.
func TestEachFunctionOfCoreIsListedOnceInTheGrants(t *testing.T) {
	pool := connect(t, installed(t))
	there := value[[]string](t, pool, `
		select array_agg(distinct pronamespace::regnamespace || '.' || proname) from pg_proc where pronamespace in ('core'::regnamespace, 'core_node'::regnamespace)`)
	private := value[[]string](t, pool, `
		select array_agg(distinct 'core_private.' || proname) from pg_proc where pronamespace = 'core_private'::regnamespace`)

	var listed []string
	for _, found := range regexp.MustCompile(`(?m)^\s*\('(core(?:_node|_private)?\.[a-z0-9_]+)', '\{`).FindAllStringSubmatch(nexussql.Grants().Body, -1) {
		if slices.Contains(listed, found[1]) {
			t.Errorf("%s is listed twice", found[1])
		}
		listed = append(listed, found[1])
		if !slices.Contains(there, found[1]) && !slices.Contains(private, found[1]) {
			t.Errorf("%s is listed and does not exist", found[1])
		}
	}
	for _, name := range there {
		if !slices.Contains(listed, name) {
			t.Errorf("%s is not listed", name)
		}
	}
}

// PUBLIC may do nothing, and no role of Nexus may change a table but through functions.
func TestNobodyWritesButThroughFunctions(t *testing.T) {
	pool := connect(t, installed(t))
	for what, query := range map[string]string{
		"PUBLIC may execute": `
			select coalesce(array_agg(p.oid::regprocedure::text), '{}') from pg_proc p
			 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace) and has_function_privilege('public', p.oid, 'execute')`,
		"a duty may write": `
			select coalesce(array_agg(r.rolname || ' ' || c.oid::regclass), '{}') from pg_class c cross join pg_roles r
			 where c.relnamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace) and c.relkind in ('r', 'p')
			   and r.rolname like 'nexus\_%' and r.rolname <> 'nexus_owner'
			   and not (c.relname = 'scheduled_tasks' and r.rolname in ('nexus_operator', 'nexus_admin')) -- triggers check what is written
			   and has_table_privilege(r.oid, c.oid, 'insert, update, delete, truncate')`,
		"a duty may use core_private": `
			select coalesce(array_agg(r.rolname), '{}') from pg_roles r
			 where r.rolname like 'nexus\_%' and r.rolname <> 'nexus_owner' and has_schema_privilege(r.oid, 'core_private', 'usage, create')`,
		"a duty may create in core": `
			select coalesce(array_agg(r.rolname), '{}') from pg_roles r
			 where r.rolname like 'nexus\_%' and r.rolname <> 'nexus_owner' and has_schema_privilege(r.oid, 'core', 'create')`,
	} {
		if found := value[[]string](t, pool, query); len(found) > 0 {
			t.Errorf("%s: %q", what, found)
		}
	}
}
