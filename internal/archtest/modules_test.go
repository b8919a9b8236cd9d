package archtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// words are what every public package brings along: pgx with what it needs, and uuid.
var words = []string{
	"github.com/google/uuid", "github.com/jackc/pgpassfile", "github.com/jackc/pgservicefile", "github.com/jackc/pgx/v5", "golang.org/x/text",
}

var (
	pool    = []string{"github.com/jackc/puddle/v2", "golang.org/x/sync"}
	traces  = []string{"go.opentelemetry.io/otel", "go.opentelemetry.io/otel/trace", "github.com/cespare/xxhash/v2"}
	metrics = []string{
		"github.com/beorn7/perks", "github.com/munnerz/goautoneg", "github.com/prometheus/client_golang", "github.com/prometheus/client_model",
		"github.com/prometheus/common", "github.com/prometheus/procfs", "golang.org/x/sys", "google.golang.org/protobuf",
	}
	// A CloudEvent is made by the SDK of CloudEvents, which reads and writes JSON by json-iterator.
	events = []string{"github.com/cloudevents/sdk-go/v2", "github.com/json-iterator/go", "github.com/modern-go/concurrent", "github.com/modern-go/reflect2"}
	node   = slices.Concat(words, pool, traces, metrics)
)

// mayLink are the modules that a program gets from a public package.
var mayLink = map[string][]string{
	"":                  words,
	"sql/roles":         nil,
	"webhook/signature": nil,
	"webhook":           slices.Concat(words, pool, traces, events),
	"ingress":           slices.Concat(words, pool, traces, events),
	"queue":             slices.Concat(words, pool, traces),
	"sqlhandler":        slices.Concat(words, pool, traces),
	"deadletter":        words,
	"kv":                words,
	"trigger":           words,
	"outbox":            slices.Concat(words, pool, traces),
	"workflow":          slices.Concat(words, pool, traces),
	"operate":           words,
	"schedule":          slices.Concat(words, pool, []string{"github.com/robfig/cron/v3"}),
	"cronsync":          words,
	"migrate":           slices.Concat(words, pool),
	"node":              node,
	"nexustest":         node,
}

// checksums bounds a user's go.sum: two lines for most modules that are linked, one for those that only the module's tests need.
var checksums = map[string]int{"queue": 62, "node": 70, "nexustest": 70}

// What a package links is in its users' programs, and audits.
func TestPublicPackagesLinkFewModules(t *testing.T) {
	for name, allowed := range mayLink {
		out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", strings.TrimSuffix(module+"/"+name, "/")).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, linked := range slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(out))))) {
			if linked != module && !slices.Contains(allowed, linked) {
				t.Errorf("%q links %s: put what needs it into a module of its own, or give the reason here", name, linked)
			}
		}
	}
}

func TestPublicPackagesAreBounded(t *testing.T) {
	for _, p := range modulePackages(t) {
		_, bounded := mayLink[p.name]
		_, besides := beside[p.name]
		if !bounded && !besides && p.name != "sql" && !strings.Contains(p.name, "internal/") && !strings.HasPrefix(p.name, "cmd/") && !isBeside(p.name) {
			t.Errorf("%q: say in mayLink which modules it may bring along", p.name)
		}
	}
}

// A module that uses a package, as its author would have it after `go mod tidy`.
func TestUsersChecksumsAreFew(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	known, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, most := range checksums {
		dir := t.TempDir()
		for file, text := range map[string]string{
			"go.mod":  "module example.com/user\n\ngo 1.26.0\n\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + root + "\n",
			"go.sum":  string(known),
			"main.go": fmt.Sprintf("package main\n\nimport _ %q\n\nfunc main() {}\n", module+"/"+name),
		} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("go", "mod", "tidy")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(sums), "\n"); lines > most {
			t.Errorf("a program that uses %s gets %d lines of go.sum, more than %d", name, lines, most)
		} else {
			t.Logf("%s: %d lines of go.sum", name, lines)
		}
	}
}

// Each module of go.work is tested and linted by make, and none is left out of go.work but for the peers: joined, their requirements
// would choose the versions of everybody's dependencies.
func TestMakeKnowsAllModules(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := exec.Command("git", "-C", root, "ls-files", "go.mod", "*/go.mod").Output()
	if err != nil {
		t.Skip("this is no checkout")
	}
	work, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, all, _ := strings.Cut(string(makefile), "\nALL := ")
	all, _, _ = strings.Cut(all, "\n")
	modules := slices.DeleteFunc(strings.Fields(string(files)), func(m string) bool { return m == "bench/peers/go.mod" })
	if !strings.Contains(string(makefile), "cd bench/peers && GOWORK=off go vet .") {
		t.Error("make lint leaves out bench/peers")
	}
	for _, m := range modules {
		dir := strings.TrimSuffix("./"+filepath.Dir(m), "/.")
		if !slices.Contains(strings.Fields(string(work)), dir) {
			t.Errorf("go.work does not use %s", dir)
		}
		if !slices.Contains(strings.Fields(all), dir+"/...") {
			t.Errorf("ALL of the Makefile leaves out %s/...", dir)
		}
	}
	if got := len(strings.Fields(all)); got != len(modules) {
		t.Errorf("the Makefile has %d modules, and there are %d", got, len(modules))
	}
}

// The tutorial's service is a user's whole program, with metrics over HTTP and tests.
func TestTheTutorialsServiceNeedsLittle(t *testing.T) {
	sums, err := os.ReadFile(filepath.Join("..", "..", "examples", "6_service", "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(sums), "\n"); lines > 74 {
		t.Errorf("it has %d lines of go.sum, more than 74", lines)
	}
}
