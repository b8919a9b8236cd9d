package migrate

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"

	nexussql "github.com/nexuspg/nexus/sql"
)

// schema is the set of files that a database is to be brought to.
type schema struct {
	roles      nexussql.File
	migrations []nexussql.File // by version
	functions  []nexussql.File
	views      []nexussql.File // in the order in which they may use each other
	grants     nexussql.File

	extensions string // the query that looks for extensions
}

// bookkeeping creates what the installer remembers. It is applied like a function file, before all others.
var bookkeeping = nexussql.NewFile("bookkeeping.sql", bookkeepingSQL)

// Three queries of the bookkeeping are files of their own: where nothing that lies in the database may be run, the installer asks them
// itself.
var bookkeepingSQL = strings.NewReplacer(
	"-- include: guard_view.sql\n", guardViewSQL,
	"-- include: queue_guard.sql\n", queueGuardSQL,
	"-- include: guard_drift.sql\n", guardDriftSQL,
).Replace(bookkeepingFile)

var (
	//go:embed bookkeeping.sql
	bookkeepingFile string
	//go:embed guard_view.sql
	guardViewSQL string
	//go:embed queue_guard.sql
	queueGuardSQL string
	//go:embed guard_drift.sql
	guardDriftSQL string
	//go:embed facts.sql
	factsSQL string
	//go:embed roles.sql
	rolesSQL string
	//go:embed extensions.sql
	extensionsSQL string
	//go:embed pgmq_floor.sql
	pgmqFloorSQL string
	//go:embed rights.sql
	rightsSQL string
	//go:embed trust.sql
	trustSQL string
	//go:embed owners.sql
	ownersSQL string
	//go:embed own_rights.sql
	ownRightsSQL string
)

// transactionControl finds statements that would end the installing transaction. A BEGIN of PL/pgSQL has no semicolon.
var transactionControl = regexp.MustCompile(`(?im)^\s*(begin|start\s+transaction|commit|rollback|end\s+transaction|abort)(\s+work|\s+transaction)?\s*;`)

func embedded() schema {
	return schema{
		roles:      nexussql.CreateRoles(),
		migrations: nexussql.Migrations(),
		functions:  nexussql.Functions(),
		views:      nexussql.Views(),
		grants:     nexussql.Grants(),
		extensions: extensionsSQL,
	}
}

// unreleased is the first migration of the schemas that there were before version 0.1.0. No release brought them, and nothing upgrades
// from one: 0.1.0 begins anew, with a baseline.
const unreleased = "0001_create_namespaces_and_queues"

// leaveUnreleased are the lines that make room for version 0.1.0.
const leaveUnreleased = `take out what you want to keep (pg_dump --data-only --schema core), then:
do $$ begin perform pgmq.drop_queue(q.queue_name) from core.queues q; end $$;
drop schema core, core_private cascade;`

// version is the number of the newest migration.
func (s schema) version() int {
	if len(s.migrations) == 0 {
		return 0
	}
	return s.migrations[len(s.migrations)-1].Version
}

// created finds what migrations and the bookkeeping create besides functions and views.
var created = regexp.MustCompile(`create (?:unlogged )?(?:table|sequence|type)(?: if not exists)? ((?:core|core_node|core_private)\.[a-z0-9_]+)`)

var createdTable = regexp.MustCompile(`create (?:unlogged )?table(?: if not exists)? ((?:core|core_node|core_private)\.[a-z0-9_]+)`)

// named are the names that a pattern finds where a line begins with it. The patterns begin with a word, which is searched for much faster
// than the beginnings of lines are, and all files are read several times in a run.
func named(pattern *regexp.Regexp, text string) []string {
	var names []string
	for _, at := range pattern.FindAllStringSubmatchIndex(text, -1) {
		if line := text[strings.LastIndexByte(text[:at[0]], '\n')+1 : at[0]]; strings.TrimSpace(line) == "" {
			names = append(names, text[at[2]:at[3]])
		}
	}
	return names
}

// owned are the names of all that is Nexus's, as the catalogs would print them, with the roles they belong to.
func (s schema) owned() (names, owners []string) {
	for _, f := range slices.Concat([]nexussql.File{bookkeeping}, s.migrations) {
		for _, name := range named(created, f.Body) {
			names, owners = append(names, name), append(owners, owner)
		}
	}
	for _, f := range slices.Concat([]nexussql.File{bookkeeping}, s.functions, s.views) {
		for _, signature := range commented(f) {
			names, owners = append(names, signature), append(owners, f.Owner())
		}
	}
	return append(names, "core_private.installed_definitions"), append(owners, owner)
}

var dropped = regexp.MustCompile(`drop table(?: if exists)? ((?:core|core_node|core_private)\.[a-z0-9_]+)`)

// tables are those that there have to be after the migrations that have been applied.
func (s schema) tables(has func(version int) bool) []string {
	var names []string
	for _, m := range s.migrations {
		if !has(m.Version) {
			continue
		}
		names = append(names, named(createdTable, m.Body)...)
		gone := named(dropped, m.Body)
		names = slices.DeleteFunc(names, func(n string) bool { return slices.Contains(gone, n) })
	}
	return names
}

// paths is the set of all files that leave a row in installed_objects.
func (s schema) paths() []string {
	paths := []string{bookkeeping.Path, s.roles.Path, s.grants.Path}
	for _, f := range s.functions {
		paths = append(paths, f.Path)
	}
	for _, f := range s.views {
		paths = append(paths, f.Path)
	}
	return paths
}
