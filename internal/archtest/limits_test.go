package archtest

import (
	"slices"
	"strings"
	"testing"
)

// limit restricts who may import a package from outside the module. Names match whole path elements.
type limit struct {
	path string
	only []string // packages of the module; nil: nobody
	why  string
}

var limits = []limit{
	{"testing", []string{"nexustest", "internal/sourcetest", "internal/bigdb", "internal/dbtest", "internal/everycall"}, "it adds flags and its own init to every program that links it"},
	{"github.com/robfig/cron", []string{"schedule"}, "it only checks expressions; next runs are computed in SQL, once"},
	{"github.com/kelseyhightower/envconfig", []string{"cmd/nexus-node/internal/config"}, "settings are read in one place"},
	{"go.yaml.in/yaml", []string{"cmd/nexus-node/internal/cli"}, "files are read where people give them; in Go a declaration is a value"},
	{"github.com/spf13/cobra", []string{"cmd/nexus-node/internal/cli"}, "only the command line knows of command lines"},
	{"github.com/rs/zerolog", []string{"cmd/nexus-node/internal/app"}, "packages take a *slog.Logger; which library writes is the program's choice"},
	{"github.com/jackc/pgx-zerolog", []string{"cmd/nexus-node/internal/app"}, "packages take a *slog.Logger; which library writes is the program's choice"},
	{"github.com/prometheus", []string{"internal/observe", "cmd/nexus-node/internal/app", "node"}, "the names are in internal/telemetry; only what counts needs the library, and node for the type of its configuration"},
	{"go.opentelemetry.io", []string{"internal/telemetry", "internal/observe", "cmd/nexus-node/internal/app", "node"}, "the names are in internal/telemetry, which emit and handlers share"},
	{"github.com/exaring/otelpgx", []string{"cmd/nexus-node/internal/app"}, "programs that embed a node trace their pools as they like"},
	{"github.com/cloudevents", []string{"internal/cloudevent"}, "what a CloudEvent looks like is said in one place"},
	{"github.com/ory/dockertest", []string{"nexustest/container"}, "Docker's client brings some forty modules along"},
}

func TestOutsidePackagesStayWhereTheyBelong(t *testing.T) {
	for _, p := range modulePackages(t) {
		for _, imported := range p.outside {
			for _, l := range limits {
				if within(imported, l.path) && !slices.Contains(l.only, p.name) {
					t.Errorf("%q imports %s: %s", p.name, imported, l.why)
				}
			}
		}
	}
}

// Everybody's program that touches Nexus links the root package.
func TestRootIsLight(t *testing.T) {
	allowed := []string{"github.com/google/uuid", "github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/pgtype"}
	heavy := []string{"net/http", "log", "log/slog"}
	for _, p := range modulePackages(t) {
		if p.name != "" {
			continue
		}
		for _, imported := range p.outside {
			third := strings.Contains(strings.Split(imported, "/")[0], ".")
			if third && !slices.Contains(allowed, imported) || slices.Contains(heavy, imported) {
				t.Errorf("the root package imports %s: it holds words only, and every user's program links it", imported)
			}
		}
	}
}

func TestSQLImportsNothing(t *testing.T) {
	for _, p := range modulePackages(t) {
		if p.name != "sql" {
			continue
		}
		for _, imported := range p.outside {
			if strings.Contains(strings.Split(imported, "/")[0], ".") {
				t.Errorf("sql imports %s: it embeds and orders files, so that anybody may read them", imported)
			}
		}
	}
}

func within(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}
