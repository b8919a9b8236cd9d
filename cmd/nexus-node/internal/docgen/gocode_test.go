package docgen_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	goBlock     = regexp.MustCompile("(?sm)^ *```go\n(.*?)```")
	declaration = regexp.MustCompile(`^(func|type|var|const|import|//)\b?`)
	selector    = regexp.MustCompile(`(?:^|[^.\w])([a-z]\w*)\.[A-Z]`)
)

// surroundings is what the pages' Go takes as given.
var surroundings = map[string]struct {
	is     string // declarations beside it
	params string // of the function that holds statements
	use    string // after them, for what they only declare
	test   bool   // it is a test of examples/4_test
}{
	"docs/guides/observing.md": {params: "pool *pgxpool.Pool", use: "_ = n"},
	"docs/guides/schedules.md": {is: `type Account struct { Name string }; const BankReconciled nexus.EventType[Account] = "bank.reconciled"`, params: "n *node.Node"},
	"docs/guides/one-shots.md": {is: `type Reminder struct { ID int }; const BookingReminder nexus.EventType[Reminder] = "booking.reminder"`, params: "ctx context.Context, tx pgx.Tx, at time.Time", use: "_, _ = id, err"},
	"docs/guides/testing.md":   {test: true},
	"docs/guides/broadcast.md": {is: `type Setting struct { Key string }; const ConfigChanged nexus.EventType[Setting] = "config.changed"; func forget(string) {}`,
		params: "n *node.Node"},
	"docs/guides/triggers.md":            {params: "n *node.Node, pool *pgxpool.Pool"},
	"docs/guides/webhooks.md":            {params: "n *node.Node"},
	"docs/guides/sql-handlers.md":        {params: "n *node.Node, url string"},
	"docs/guides/cloudevents-ingress.md": {params: "pool *pgxpool.Pool"},
}

var imports = map[string]string{
	"json":    "encoding/json",
	"context": "context", "errors": "errors", "fmt": "fmt", "http": "net/http", "os": "os", "signal": "os/signal", "syscall": "syscall",
	"testing": "testing", "time": "time", "pgx": "github.com/jackc/pgx/v5", "pgxpool": "github.com/jackc/pgx/v5/pgxpool",
	"prometheus": "github.com/prometheus/client_golang/prometheus", "otel": "go.opentelemetry.io/otel", "nexus": "github.com/nexuspg/nexus",
	"node": "github.com/nexuspg/nexus/node", "queue": "github.com/nexuspg/nexus/queue", "schedule": "github.com/nexuspg/nexus/schedule",
	"deadletter": "github.com/nexuspg/nexus/deadletter", "nexustest": "github.com/nexuspg/nexus/nexustest", "operate": "github.com/nexuspg/nexus/operate",
	"webhook": "github.com/nexuspg/nexus/webhook", "sqlhandler": "github.com/nexuspg/nexus/sqlhandler", "ingress": "github.com/nexuspg/nexus/ingress", "sha256": "crypto/sha256", "kv": "github.com/nexuspg/nexus/kv", "outbox": "github.com/nexuspg/nexus/outbox", "workflow": "github.com/nexuspg/nexus/workflow", "log": "log",
}

// The Go of the pages compiles and passes vet, in a module that is not this one, as it does for whoever copies it. What is no
// declaration is put into a function.
// holds: docs
func TestGoOfThePagesCompiles(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	module := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		copyFile(t, filepath.Join(root, name), filepath.Join(module, name))
	}
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = module
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, out)
		}
	}
	run("mod", "edit", "-module=example.com/reader", "-require=github.com/nexuspg/nexus@v0.0.0", "-replace=github.com/nexuspg/nexus="+root)
	found := 0
	for _, page := range pages(t) {
		blocks := goBlock.FindAllStringSubmatch(read(t, page), -1)
		if len(blocks) == 0 || page == servicePage || page == workflowPage { // whole files, of examples that are built
			continue
		}
		found++
		given := surroundings[page]
		code := []string{given.is}
		for _, b := range blocks {
			if !declaration.MatchString(strings.TrimSpace(b[1])) {
				b[1] = fmt.Sprintf("func _(%s) {\n%s%s\n}", given.params, b[1], given.use)
			}
			code = append(code, b[1])
		}
		dir := filepath.Join(module, strings.NewReplacer("/", "_", ".", "_").Replace(page))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		file, pkg := "page.go", "page"
		if given.test {
			file, pkg = "page_test.go", "shop"
			copyFile(t, filepath.Join(root, "examples", "4_test", "shop.go"), filepath.Join(dir, "shop.go"))
		}
		writeFile(t, filepath.Join(dir, file), program(pkg, strings.Join(code, "\n")))
	}
	if found < 6 || found < len(surroundings) {
		t.Fatalf("only %d pages have Go", found)
	}
	run("vet", "./...")
}

// Names of steps compile whatever they are, and are refused when a node begins.
// holds: docs
func TestNamesOfStepsInPagesAreTaken(t *testing.T) {
	step, valid := regexp.MustCompile(`workflow\.(?:Step|TxStep|Sleep|SleepUntil|WaitForSignal|Sequence|Parallel|Map|Route|Loop|Child)\(\w+, "([^"]*)"`), regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)
	found := 0
	for _, page := range pages(t) {
		for _, m := range step.FindAllStringSubmatch(read(t, page), -1) {
			if found++; !valid.MatchString(m[1]) {
				t.Errorf("%s: %s", page, m[0])
			}
		}
	}
	if found < 10 {
		t.Errorf("%d were found", found)
	}
}

// program adds the imports that code needs.
func program(pkg, code string) string {
	var names []string
	for _, m := range selector.FindAllStringSubmatch(code+" "+code, -1) {
		if _, is := imports[m[1]]; is && !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n", pkg)
	for _, n := range names {
		fmt.Fprintf(&b, "\t%q\n", imports[n])
	}
	fmt.Fprintf(&b, ")\n\n%s\n", code)
	return b.String()
}

// pages are the README and what lies below docs, by their paths in the repository.
func pages(t *testing.T) []string {
	t.Helper()
	list := []string{"README.md"}
	for _, below := range []string{"tutorials", "guides", "explanation"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "docs", below, "*.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			list = append(list, "docs/"+below+"/"+filepath.Base(f))
		}
	}
	return list
}

func read(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, to, string(text))
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
