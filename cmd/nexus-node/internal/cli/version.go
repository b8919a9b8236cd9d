package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	nexussql "github.com/nexuspg/nexus/sql"
)

func newVersion(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program and of the schema that it brings",
		Example: "  nexus-node version -o json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version string `json:"version"`
				Schema  int    `json:"schema"`
				Go      string `json:"go"`
			}{s.Version, schemaVersion(), runtime.Version()}
			if s.format == asJSON {
				return s.printJSON(v)
			}
			return s.printFields([]string{"version", "schema", "go"}, []string{v.Version, fmt.Sprint(v.Schema), v.Go})
		},
	}
}

// schemaVersion is the number of the last migration.
func schemaVersion() int {
	version := 0
	for _, m := range nexussql.Migrations() {
		version = m.Version
	}
	return version
}
