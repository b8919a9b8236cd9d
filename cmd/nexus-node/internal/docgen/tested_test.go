package docgen

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// checkout is the root of the project.
const checkout = "../../../.."

func TestTestedIsUpToDate(t *testing.T) {
	t.Parallel()
	got, err := Tested(os.DirFS(checkout))
	if err != nil {
		t.Fatal(err)
	}
	const page = checkout + "/docs/explanation/tested.md"
	if os.Getenv("NEXUS_UPDATE_DOCS") != "" {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/explanation/tested.md is out of date, run `make docs` (-committed +marks):\n%s", diff)
	}
}

func TestMarksAndStatementsFit(t *testing.T) {
	t.Parallel()
	const statements = "A1: one\nbreaks: this\ntried: yes\n\nA1-more, A2: two\n"
	const mutant = "\t{\"A2 two\", \"core.emit\", []string{\"a\", \"b\"}, \"emit/two\", false},\n"
	const one = "package x\n\n// It is so.\n// holds: A1 (a part, of it (all)), A2\nfunc TestOne(t *testing.T) {}\n"
	const two = "-- holds: A1-more\nselect 1;\n"
	for name, c := range map[string]struct{ statements, one, two, want string }{
		"all fit":           {statements, one, two, "| A1 one | `TestOne` (a part, of it (all)) | this | yes |\n| A1, A2 two | `emit/two`, `TestOne` |  | always |\n"},
		"a section":         {strings.Replace(statements, "\nA1-more", "\nsection: More\n\nA1-more", 1), one, two, "this | yes |\n\n## More\n\n| statement | tests | changes that make them fail | tried |\n|---|---|---|---|\n| A1, A2 two"},
		"a whole file":      {statements, "// holds: A1\n\npackage x\n\nfunc TestOne(t *testing.T) {}\n", two, "| A1 one | `x/one_test.go` | this | yes |"},
		"no test":           {statements, strings.Replace(one, "A1 (a part, of it (all)), ", "", 1), two, "no test has the mark A1"},
		"a reason for none": {strings.Replace(statements, "tried: yes", "not yet: too dear", 1), strings.Replace(one, "A1 (a part, of it (all)), ", "", 1), two, "| A1 one | not yet: too dear | this |  |"},
		"a reason too much": {strings.Replace(statements, "tried: yes", "not yet: too dear", 1), one, two, "A1 has a test"},
		"unknown":           {statements, strings.Replace(one, "A2", "A3", 1), two, "x/one_test.go: there is no statement A3"},
		"above no test":     {statements, strings.Replace(one, "func TestOne", "func one", 1), two, "above no test"},
		"below no test":     {statements, one, two + "-- holds: A1\n", "nothing is below the mark A1"},
		"no list":           {statements, strings.Replace(one, "A1 (", "A1 and (", 1), two, "is no list of statements"},
		"twice":             {statements + "\nA2: again\n", one, two, "A2 is there twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tested(fstest.MapFS{
				"x/one_test.go": {Data: []byte(c.one)}, "sql/tests/emit/two.sql": {Data: []byte(c.two)}, "sql/mutants_test.go": {Data: []byte(mutant)},
			}, c.statements)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%s is not in:\n%s", c.want, got)
			}
		})
	}
}
