package docgen_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each public package shows on its page how it is used, by functions that run with the tests, since they say what they print.
// holds: examples
func TestEachPackageHasExamples(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}|{{.ImportPath}}|{{.Name}}", "github.com/nexuspg/nexus/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(out)) {
		part := strings.Split(strings.TrimSpace(line), "|")
		dir, path, name := part[0], part[1], part[2]
		if name == "main" || strings.Contains(path, "/internal/") || strings.Contains(path, "/testdata/") || strings.Contains(path, "/examples/") || slices.Contains(inside, filepath.Base(path)) {
			continue
		}
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		var parsed []*ast.File
		for _, f := range files {
			file, err := parser.ParseFile(set, f, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, file)
		}
		runs := 0
		for _, e := range doc.Examples(parsed...) {
			if e.Doc == "" {
				t.Errorf("%s: Example%s says nothing about itself", path, e.Name)
			}
			if e.Output != "" || e.EmptyOutput {
				runs++
			}
		}
		if runs == 0 {
			t.Errorf("%s has no example that runs", path)
		}
		found++
	}
	if found < 8 {
		t.Errorf("only %d public packages were found", found)
	}
}

// inside are packages that are not below internal, and still nobody's to call: container is imported for its effect.
var inside = []string{"sql", "roles", "chaos", "bench", "container"}
