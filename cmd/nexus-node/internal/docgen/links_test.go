package docgen_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	mdLink   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	codeMD   = regexp.MustCompile("(?sm)^ *```.*?^ *```|`[^`\n]*`")
	anchored = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// Where a page refers to another file, that is there, and has the heading that is named.
// holds: docs (links)
func TestLinksOfThePagesResolve(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..")
	all := append(pages(t), "CONTRIBUTING.md", "CHANGELOG.md", "docs/README.md")
	for _, p := range glob(t, filepath.Join(root, "docs", "reference", "*.md")) {
		all = append(all, "docs/reference/"+filepath.Base(p))
	}
	found := 0
	for _, page := range all {
		for _, m := range mdLink.FindAllStringSubmatch(codeMD.ReplaceAllString(read(t, page), ""), -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			found++
			file := page
			if to != "" {
				file = filepath.Join(filepath.Dir(page), to)
			}
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s refers to %s, which is not there", page, m[1])
			} else if anchor != "" && !hasHeading(read(t, file), anchor) {
				t.Errorf("%s refers to %s, and %s has no such heading", page, m[1], file)
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d links", found)
	}
}

// Who looks for a page finds it: docs/README.md names each.
// holds: docs (each is in the list)
func TestTheListOfPagesIsWhole(t *testing.T) {
	list := read(t, "docs/README.md")
	for _, dir := range []string{"tutorials", "guides", "explanation", "reference"} {
		for _, p := range glob(t, filepath.Join("..", "..", "..", "..", "docs", dir, "*.md")) {
			if name := dir + "/" + filepath.Base(p); !strings.Contains(list, "]("+name+")") {
				t.Errorf("docs/README.md lacks %s", name)
			}
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	return files
}

// hasHeading goes by the anchors that hosts of Git give headings.
func hasHeading(text, anchor string) bool {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		if strings.ReplaceAll(strings.ToLower(anchored.ReplaceAllString(m[1], "")), " ", "-") == anchor {
			return true
		}
	}
	return false
}
