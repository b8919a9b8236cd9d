package migrate

import (
	_ "embed"
	"regexp"

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

var (
	//go:embed bookkeeping.sql
	bookkeepingSQL string
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

// version is the number of the newest migration.
func (s schema) version() int {
	if len(s.migrations) == 0 {
		return 0
	}
	return s.migrations[len(s.migrations)-1].Version
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
