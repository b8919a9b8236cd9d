package doctor

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ALTER SYSTEM takes a literal for each name; one literal with a comma in it is one name, with which no server starts.
// holds: doctor-mends
func TestAListKeepsItsNamesApart(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"":                                 "",
		"pg_cron":                          "'pg_cron'",
		"auto_explain, pg_stat_statements": "'auto_explain', 'pg_stat_statements'",
		` "a, b" ,c`:                       "'a, b', 'c'",
		`"$libdir/it's"`:                   "'$libdir/it''s'",
	} {
		if got := literals(elements(list)); got != want {
			t.Errorf("%s makes %s, want %s", list, got, want)
		}
	}
}

// What stands on the server's command line wins over ALTER SYSTEM, and is changed where it stands.
func TestASettingOfTheCommandLine(t *testing.T) {
	t.Parallel()
	got := setAnew("shared_preload_libraries", "'a', 'pg_cron'", true)
	want := mend{`start the server with -c 'shared_preload_libraries=a, pg_cron' in place of the one on its command line`}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestManyLinesAreBounded(t *testing.T) {
	t.Parallel()
	lines := make(mend, 100)
	got := strings.Split(lines.String(), "\n")
	if len(got) != mostLines+1 || !strings.Contains(got[mostLines], "look again") {
		t.Errorf("%d lines, the last is %q", len(got), got[len(got)-1])
	}
}

func TestWordsForTheShell(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"shop-1": "shop-1", "": "''", "it's": `'it'\''s'`, "a b": "'a b'", "$(x)": "'$(x)'"} {
		if got := quoted(word); got != want {
			t.Errorf("%s becomes %s, want %s", word, got, want)
		}
	}
}

var (
	printedLine = regexp.MustCompile("\\b(?:statement|command)\\((?:\"((?:[^\"\\\\]|\\\\.)*)\"|`([^`]*)`)")
	saysWho     = regexp.MustCompile(`(?:; --|[^;] #) as (?:a member of \w+|who installed Nexus|a superuser|its owner)`)
)

// Who asks is seldom who may mend. So each line says who may.
func TestEachLineSaysWhoMayRunIt(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range printedLine.FindAllStringSubmatch(string(text), -1) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			if lines++; !saysWho.MatchString(m[1] + m[2]) {
				t.Errorf("%s: %s%s", name, m[1], m[2])
			}
		}
	}
	if lines < 40 {
		t.Errorf("only %d lines were found", lines)
	}
}
