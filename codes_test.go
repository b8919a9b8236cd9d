package nexus_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
)

// TestCodesAgreeWithDesign compares the constants with the table of the design, which core.error_codes follows too.
func TestCodesAgreeWithDesign(t *testing.T) {
	design, err := os.ReadFile("docs/explanation/design.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, m := range regexp.MustCompile(`(?m)^\| (NX\w+) \|`).FindAllSubmatch(design, -1) {
		want = append(want, string(m[1]))
	}
	slices.Sort(want)
	got := codes(t)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("codes (-design +Go):\n%s", diff)
	}
}

// TestCodesAgreeWithTheDatabase holds them against what psql users look up.
func TestCodesAgreeWithTheDatabase(t *testing.T) {
	want := dbtest.Get[[]string](dbtest.New(t), "select array_agg(code order by code) from core.error_codes")
	got := codes(t)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("codes (-core.error_codes +Go):\n%s", diff)
	}
}

func TestCodesHaveAFamily(t *testing.T) {
	all := codes(t)
	if unique := slices.Compact(slices.Sorted(slices.Values(all))); len(unique) != len(all) {
		t.Errorf("%d constants share %d codes", len(all), len(unique))
	}
	families := map[byte]error{
		'0': nexus.ErrInvalid, '1': nexus.ErrNotFound, '2': nexus.ErrConflict, '3': nexus.ErrLeaseLost, '4': nexus.ErrForbidden,
		'5': nexus.ErrSchema, '6': nexus.ErrLimit, '7': nexus.ErrVerdict,
	}
	for _, code := range all {
		if !regexp.MustCompile(`^NX[0-7]\d\d$`).MatchString(code) {
			t.Errorf("%q is not a code of class NX", code)
		} else if err := (&nexus.Error{Code: code}); !err.Is(families[code[2]]) {
			t.Errorf("%s is not of the family %v", code, families[code[2]])
		}
	}
}

// codes reads the values of the Code constants from the source: the package keeps no list of them at run time.
func codes(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for i, name := range spec.Names {
				value, err := strconv.Unquote(spec.Values[i].(*ast.BasicLit).Value)
				if err != nil || name.Name[:4] != "Code" {
					t.Fatalf("%s: %v", name.Name, err)
				}
				all = append(all, value)
			}
		}
		return true
	})
	return all
}
