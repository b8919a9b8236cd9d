package nexussql_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// SQL is reviewed side by side, and a body whose lines run on isn't. Comments on objects are sentences of their reference pages.
func TestLinesAreNarrow(t *testing.T) {
	t.Parallel()
	const most = 120
	tree := os.DirFS(".")
	for _, dir := range []string{"functions", "views", "extensions"} {
		err := fs.WalkDir(tree, dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".sql") {
				return err
			}
			text, err := fs.ReadFile(tree, path)
			if err != nil {
				return err
			}
			n := 0
			for line := range strings.Lines(string(text)) {
				n++
				line = strings.TrimSuffix(line, "\n")
				if columns := utf8.RuneCountInString(line); columns > most && !strings.HasPrefix(line, "comment on ") {
					t.Errorf("%s:%d has %d columns, %d is the most", path, n, columns, most)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
