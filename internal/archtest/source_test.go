package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// The environment is read in cmd/nexus-node/internal/config alone, so that `nexus-node config` can list all that has an effect. What
// starts servers for tests has variables of its own; passing the environment on to a child (os.Environ) is no reading.
func TestEnvironmentIsReadInOnePlace(t *testing.T) {
	readers := []string{"cmd/nexus-node/internal/config", "internal/pgdev", "internal/dbtest", "nexustest/container"}
	for _, p := range modulePackages(t) {
		if slices.Contains(readers, p.name) {
			continue
		}
		p.inspect(t, func(pos token.Position, n ast.Node) {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return
			}
			pkg, ok := call.X.(*ast.Ident)
			if ok && pkg.Name == "os" && slices.Contains([]string{"Getenv", "LookupEnv", "ExpandEnv"}, call.Sel.Name) {
				t.Errorf("%s reads the environment: take a value, cmd/nexus-node/internal/config is where it is read", pos)
			}
		})
	}
}

var sqlText = regexp.MustCompile(`(?is)^\s*(select\b.*\b(from|core(_node)?\.)|insert\s+into\b|update\b.*\bset\b|delete\s+from\b|with\b.*\bas\b|call\s+core(_node)?\.)`)

// A node works through the functions of the core as everybody does; their calls have names in Go.
func TestNoSQLInNode(t *testing.T) {
	for _, p := range modulePackages(t) {
		if p.name != "node" {
			continue
		}
		p.inspect(t, func(pos token.Position, n ast.Node) {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && sqlText.MatchString(text) {
					t.Errorf("%s holds SQL: internal/member, internal/pgmqueue and internal/db are where a node's calls are written", pos)
				}
			}
		})
	}
}

// calledFunction is a call of a function of Nexus, also of one whose name stands beside the literal: "core."+verb+"(…". A relation is
// followed by no bracket.
var calledFunction = regexp.MustCompile(`(?i)\bcore(_node|_private)?\.([a-z_]+\s*\(|$)`)

// sqlWord tells a statement, or a piece of one, from prose.
var sqlWord = regexp.MustCompile(`(?i)\b(select|from|where|values|call|set)\b|^\s*core(_node|_private)?\.`)

// A command calls the functions of the core by their names in Go, as every program may, and reads views and tables. What it prints of them,
// such as a line to run in psql, is prose.
// holds: cli-no-calls
func TestNoCallsInSQLInTheCommandLine(t *testing.T) {
	looked := 0
	for _, p := range modulePackages(t) {
		if p.name != "cmd/nexus-node/internal/cli" {
			continue
		}
		p.inspect(t, func(pos token.Position, n ast.Node) {
			text, ok := stringLiteral(n)
			if sum, isSum := n.(*ast.BinaryExpr); isSum && sum.Op == token.ADD {
				text, ok = cutName(sum)
			}
			if !ok {
				return
			}
			looked++
			if callsFunction(text) {
				t.Errorf("%s calls a function in SQL: queue, operate, deadletter and schedule have the verbs, internal/readmodel what answers with rows", pos)
			}
		})
	}
	if looked < 500 {
		t.Errorf("only %d literals were looked at", looked)
	}
}

func stringLiteral(n ast.Node) (string, bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// cutName is the literal on the left of a sum that ends within a name of Nexus, as "core.purge_"+what does, up to the dot. Whatever begins
// the right side, but for a literal that ends the name, may go on with it.
func cutName(sum *ast.BinaryExpr) (string, bool) {
	left := sum.X
	if inner, ok := left.(*ast.BinaryExpr); ok {
		left = inner.Y
	}
	text, ok := stringLiteral(left)
	if !ok {
		return "", false
	}
	if rest, ok := stringLiteral(sum.Y); ok && !nameGoesOn.MatchString(rest) {
		return "", false
	}
	cut := cutOff.FindStringIndex(text)
	if cut == nil {
		return "", false
	}
	return text[:cut[1]-len(cutOff.FindStringSubmatch(text)[1])], true
}

var (
	cutOff     = regexp.MustCompile(`(?i)\bcore(?:_private|_node)?\.([a-z_]+)$`)
	nameGoesOn = regexp.MustCompile(`(?i)^([a-z0-9_(]|$)`)
)

func TestCutNamesAreRecognised(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`"select core.purge_" + what`:                         true,
		`"select " + "core.purge_" + what + "($1)"`:           true,
		`"select core.purge" + "_queue($1)"`:                  true,
		`"select * from core.queues" + " where true"`:         false,
		`"select " + columns + " from core.nodes where " + c`: false,
		`"kept in core.audit_log" + why`:                      false,
	} {
		e, err := parser.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		ast.Inspect(e, func(n ast.Node) bool {
			if sum, ok := n.(*ast.BinaryExpr); ok {
				cut, ok := cutName(sum)
				found = found || ok && callsFunction(cut)
			}
			return true
		})
		if found != want {
			t.Errorf("%s calls a function: %t", text, found)
		}
	}
}

func callsFunction(text string) bool {
	return calledFunction.MatchString(text) && sqlWord.MatchString(text)
}

func TestCallsInSQLAreRecognised(t *testing.T) {
	for text, want := range map[string]bool{
		"select core.now()": true,
		"select removed from core.purge_queue($1::text)":                       true,
		"core.grant_namespace($1::text, $2::text)":                             true,
		"select exists (select from core.nodes n where core_private.matches(n": true,
		"select core.":                true,
		"core.":                       true,
		"select core.find_event ($1)": true,
		"select state from core.node_status where node_id = $1::text": false,
		"select * from core.queues":                                   false,
		"select (select count(*) from core.queues)":                   false,
		"why; kept in core.audit_log":                                 false,
	} {
		if callsFunction(text) != want {
			t.Errorf("%q calls a function: %t", text, !want)
		}
	}
}

func TestSQLTextIsRecognised(t *testing.T) {
	for text, want := range map[string]bool{
		"select * from core.nodes":              true,
		"\n  select core.tick()":                true,
		"update core.nodes set state = 'x'":     true,
		"select a pool for it":                  false,
		"with the pool's settings":              false,
		"update available":                      false,
		"node: give ids from 1 to 5":            false,
		"delete from core.nodes where true":     true,
		"insert into core.nodes values ('one')": true,
	} {
		if sqlText.MatchString(text) != want {
			t.Errorf("%q counts as SQL: %t", text, !want)
		}
	}
}

// inspect visits every node of the package's files that are no tests.
func (p pkg) inspect(t *testing.T, visit func(token.Position, ast.Node)) {
	t.Helper()
	for _, file := range p.files {
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if n != nil {
				pos := fset.Position(n.Pos())
				pos.Filename = filepath.Join(p.name, filepath.Base(file))
				visit(pos, n)
			}
			return true
		})
	}
}
