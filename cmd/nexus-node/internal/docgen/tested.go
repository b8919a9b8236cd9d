package docgen

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// statements.txt has the statements that the core covers, in the order of the page, with an empty line between them:
//
//	ID, ID: what is promised
//	also: numbers of the contract that it belongs to besides those that its IDs begin with
//	breaks: changes that make a test fail
//	tried: that these were made, and the test was seen to fail
//	not yet: why no test holds it; then none has its mark
//
// A paragraph that begins with "section: " has the title of a table of its own for what follows.
//
// A test says which of them it holds by a mark above it, or above the package clause for all tests of the file:
//
//	// holds: D2 (what of it, if not all), D3
//
//go:embed statements.txt
var statementsText string

type statement struct {
	ids                                         []string
	text, also, breaks, tried, missing, section string // section: the title of one, and nothing else
}

// number is that of the contract which the statement belongs to; a statement without one has a name alone.
var number = regexp.MustCompile(`^[A-Z]{1,3}[0-9]+`)

// numbers are those that the page shows.
func (s statement) numbers() []string {
	var all []string
	for _, id := range s.ids {
		if n := number.FindString(id); n != "" {
			all = append(all, n)
		}
	}
	if s.also != "" {
		all = append(all, strings.Split(s.also, ", ")...)
	}
	return all
}

func parseStatements(text string) ([]statement, error) {
	var all []statement
	known := map[string]bool{}
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		head, fields, _ := strings.Cut(block, "\n")
		ids, what, ok := strings.Cut(head, ": ")
		if !ok {
			return nil, fmt.Errorf("statements.txt: %q has no ID", head)
		}
		if ids == "section" {
			all = append(all, statement{section: what})
			continue
		}
		s := statement{ids: strings.Split(ids, ", "), text: what}
		for _, id := range s.ids {
			if known[id] {
				return nil, fmt.Errorf("statements.txt: %s is there twice", id)
			}
			known[id] = true
		}
		for line := range strings.Lines(fields) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch name {
			case "also":
				s.also = value
			case "breaks":
				s.breaks = value
			case "tried":
				s.tried = value
			case "not yet":
				s.missing = value
			default:
				return nil, fmt.Errorf("statements.txt: %s has a line %q", ids, line)
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// mark says that a test holds a statement.
type mark struct {
	id, note string
	test     string // as the page names it
	file     string
	script   bool // of SQL, and not of Go
}

var (
	holds  = regexp.MustCompile(`^(?://|--) holds: (.*)$`)
	aMark  = regexp.MustCompile(`^([\w-]+)(?: \(((?:[^()]|\([^()]*\))*)\))?(?:, |$)`)
	goTest = regexp.MustCompile(`^func ((?:Test|Fuzz|Example)\w*)\(`)
)

// marks finds the marks of the tests of a checkout.
func marks(checkout fs.FS) ([]mark, error) {
	var all []mark
	err := fs.WalkDir(checkout, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || name == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		script := strings.HasSuffix(name, ".sql") && (strings.HasPrefix(name, "sql/tests/") || strings.HasPrefix(name, "sql/lint/"))
		if !script && !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		found, err := marksOf(checkout, name, script)
		all = append(all, found...)
		return err
	})
	return all, err
}

func marksOf(checkout fs.FS, name string, script bool) ([]mark, error) {
	f, err := checkout.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all, open []mark // open are those whose test comes below
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if m := holds.FindStringSubmatch(line); m != nil {
			for rest := m[1]; rest != ""; {
				one := aMark.FindStringSubmatch(rest)
				if one == nil {
					return nil, fmt.Errorf("%s: %q is no list of statements", name, m[1])
				}
				open = append(open, mark{id: one[1], note: one[2], file: name, script: script})
				rest = rest[len(one[0]):]
			}
			continue
		}
		if len(open) == 0 || line == "" || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "--") {
			continue
		}
		var test string
		switch m := goTest.FindStringSubmatch(line); {
		case script:
			test = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "sql/tests/"), "sql/"), ".sql")
		case strings.HasPrefix(line, "package "):
			test = name
		case m != nil:
			test = m[1]
		default:
			return nil, fmt.Errorf("%s: the mark %s is above no test: %q", name, open[0].id, line)
		}
		for _, m := range open {
			m.test = test
			all = append(all, m)
		}
		open = nil
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("%s: nothing is below the mark %s", name, open[0].id)
	}
	return all, lines.Err()
}

// aMutant is the statement that a mutant of the SQL breaks, as its number, and the script that has to notice.
var aMutant = regexp.MustCompile(`(?m)^\t\{"((?:[A-Z]{1,3}[0-9]+)?).*, "([a-z_]+/[a-z_0-9]+)", (?:true|false)\},$`)

// mutants has the scripts that notice a mutant, each with the numbers of the statements that its mutants break.
func mutants(checkout fs.FS) (map[string][]string, error) {
	text, err := fs.ReadFile(checkout, "sql/mutants_test.go")
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, m := range aMutant.FindAllStringSubmatch(string(text), -1) {
		all[m[2]] = append(all[m[2]], m[1])
	}
	return all, nil
}

// Tested writes docs/explanation/tested.md from the statements and the marks of a checkout's tests. A mark of a statement that is not
// known, and a statement that no test holds without a word why, are errors.
func Tested(checkout fs.FS) (string, error) { return tested(checkout, statementsText) }

func tested(checkout fs.FS, text string) (string, error) {
	all, err := parseStatements(text)
	if err != nil {
		return "", err
	}
	found, err := marks(checkout)
	if err != nil {
		return "", err
	}
	byMutants, err := mutants(checkout)
	if err != nil {
		return "", err
	}
	packages := map[string]map[string]bool{} // of tests by their names
	byID := map[string][]mark{}
	for _, m := range found {
		if packages[m.test] == nil {
			packages[m.test] = map[string]bool{}
		}
		packages[m.test][path.Dir(m.file)] = true
		byID[m.id] = append(byID[m.id], m)
	}
	var problems []error
	var b strings.Builder
	b.WriteString(testedHead)
	for _, s := range all {
		if s.section != "" {
			fmt.Fprintf(&b, "\n## %s\n\n%s", s.section, testedTable)
			continue
		}
		cells := map[string]string{} // the tests, and what the page says of each
		always := false
		for _, id := range s.ids {
			for _, m := range byID[id] {
				name := m.test
				if len(packages[m.test]) > 1 {
					name = path.Dir(m.file) + " " + name
				}
				cell := "`" + name + "`"
				if m.note != "" {
					cell += " (" + m.note + ")"
				}
				order := "2 "
				if m.script {
					order = "1 "
					always = always || strings.HasPrefix(m.test, "lint/") || slices.ContainsFunc(byMutants[m.test], func(broken string) bool {
						return slices.Contains(s.numbers(), broken) || len(s.numbers()) == 0
					})
				}
				cells[order+name] = cell
			}
			delete(byID, id)
		}
		switch {
		case len(cells) == 0 && s.missing == "":
			problems = append(problems, fmt.Errorf("no test has the mark %s", s.ids[0]))
		case len(cells) > 0 && s.missing != "":
			problems = append(problems, fmt.Errorf("%s has a test, and statements.txt says not yet", s.ids[0]))
		}
		var tests []string
		for _, key := range slices.Sorted(maps.Keys(cells)) {
			tests = append(tests, cells[key])
		}
		var tried []string
		if always {
			tried = append(tried, "always")
		}
		if s.tried != "" {
			tried = append(tried, s.tried)
		}
		if s.missing != "" {
			tests = []string{"not yet: " + s.missing}
		}
		text := strings.Join(append([]string{strings.Join(s.numbers(), ", ")}, s.text), " ")
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", strings.TrimSpace(text), strings.Join(tests, ", "), s.breaks, strings.Join(tried, "; "))
	}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		problems = append(problems, fmt.Errorf("%s: there is no statement %s", byID[id][0].file, id))
	}
	return b.String(), errors.Join(problems...)
}

const testedHead = "# What is tested, and what would break the test\n\n" +
	"<!-- Generated by `make docs`. The statements are in cmd/nexus-node/internal/docgen/statements.txt, the names of tests come\n" +
	"from the marks holds: beside them. -->\n\n" +
	"Each numbered statement that the core covers, the tests that hold it, and changes that make them fail. A test names the statements\n" +
	"that it holds in a comment of its own, so that this page names no test that does not.\n\n" +
	"\"Tried: yes\" means that the changes were made and a test was seen to fail; where a refusal is tested, the test asserts the code of the\n" +
	"error. \"Always\" means that the suite makes changes itself, at each run: `TestScriptsNoticeWhatIsTakenOut` takes a few hundred promises\n" +
	"out of the database in turn, and fails unless the script that holds the promise turns red. `TestLints` does so with each lint. The third\n" +
	"column names some of the changes.\n\n" +
	"Names such as `emit/one` are scripts, `sql/tests/emit/one.sql`; `lint/…` is in `sql/lint`.\n\n" +
	testedTable

const testedTable = "| statement | tests | changes that make them fail | tried |\n|---|---|---|---|\n"
