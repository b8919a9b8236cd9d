package nexussql

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	named := regexp.MustCompile(`^[0-9]{4}_[a-z]+(_[a-z0-9]+)+$`)
	for i, m := range Migrations() {
		if m.Version != i+1 {
			t.Errorf("%s is at place %d: a number is missing or there twice", m.Path, i+1)
		}
		if !named.MatchString(m.Name()) {
			t.Errorf("%s is not named NNNN_verb_object.sql", m.Path)
		}
	}
}

// A file in a place where nobody looks for it would never be applied.
func TestEveryFileIsApplied(t *testing.T) {
	applied := map[string]bool{CreateRoles().Path: true, Grants().Path: true}
	for _, files := range [][]File{Migrations(), Functions(), Views()} {
		for _, f := range files {
			applied[f.Path] = true
		}
	}
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !applied[path] {
			t.Errorf("%s is embedded and never applied", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFunctionFilesHoldNoTransactionControlAndNoGrants(t *testing.T) {
	forbidden := regexp.MustCompile(`(?im)^\s*((begin|commit|rollback)\s*;|grant |revoke |create table|alter table)`)
	for _, f := range append(Functions(), Views()...) {
		if strings.Contains(f.Body, "create or replace procedure ") {
			continue // what a procedure is for
		}
		if found := forbidden.FindString(f.Body); found != "" {
			t.Errorf("%s has %q", f.Path, found)
		}
	}
}

func TestNewFileNormalises(t *testing.T) {
	unix := NewFile("functions/a/b.sql", "select 1;\n\nselect 2;\n")
	for name, text := range map[string]string{
		"line endings":    "select 1;\r\n\r\nselect 2;\r\n",
		"trailing blanks": "select 1; \t\n  \nselect 2;\n",
		"last line":       "select 1;\n\nselect 2;",
		"blank lines":     "select 1;\n\nselect 2;\n\n\n",
	} {
		if got := NewFile("functions/a/b.sql", text); got.SHA256 != unix.SHA256 || got.Body != unix.Body {
			t.Errorf("%s make another file: %q", name, got.Body)
		}
	}
	if got := NewFile("functions/a/b.sql", "select 1;\nselect 2;\n"); got.SHA256 == unix.SHA256 {
		t.Error("another text has the same hash")
	}
}

func TestDirectivesStandAtTheHead(t *testing.T) {
	for _, c := range []struct{ text, owner string }{
		{"select 1;", "nexus_owner"},
		{"-- owner: nexus_scheduler\nselect 1;", "nexus_scheduler"},
		{"--owner:nexus_guard\nselect 1;", "nexus_guard"},
		{"-- What this does: much.\n-- owner: nexus_guard\nselect 1;", "nexus_guard"},
		{"select 1;\n-- owner: nexus_guard\n", "nexus_owner"},
		{"-- the owner: somebody\nselect 1;", "nexus_owner"},
	} {
		if got := NewFile("functions/a/b.sql", c.text).Owner(); got != c.owner {
			t.Errorf("%q belongs to %s, want %s", c.text, got, c.owner)
		}
	}
}

func TestNamesOfAFile(t *testing.T) {
	type names struct {
		Name    string
		Version int
	}
	for path, want := range map[string]names{
		"migrations/0012_add_thing.sql": {"0012_add_thing", 12},
		"functions/event/emit.sql":      {"emit", 0},
		"views/10_queue.sql":            {"10_queue", 0},
	} {
		f := NewFile(path, "")
		if diff := cmp.Diff(want, names{f.Name(), f.Version}); diff != "" {
			t.Errorf("%s (-want +got)\n%s", path, diff)
		}
	}
}
