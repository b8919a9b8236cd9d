package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// pkg is a package of the module as `go list` sees it, without its tests.
type pkg struct {
	name    string   // below the module's path; "" is the root
	own     []string // imports from the module, named the same way
	outside []string // all other imports
	files   []string // Go files, absolute
}

const module = "github.com/nexuspg/nexus"

func modulePackages(t *testing.T) []pkg {
	t.Helper()
	packages, err := list()
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// list asks once: the answer takes a second and does not change.
var list = sync.OnceValues(func() ([]pkg, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,IgnoredGoFiles,Imports", module+"/...")
	cmd.Dir = filepath.Join("..", "..")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.Join(err, errors.New(stderr.String()))
	}
	var packages []pkg
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var listed struct {
			ImportPath, Dir string
			GoFiles         []string
			IgnoredGoFiles  []string // of other platforms
			Imports         []string
		}
		switch err := dec.Decode(&listed); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, err
		}
		p := pkg{name: below(listed.ImportPath)}
		for _, file := range append(listed.GoFiles, listed.IgnoredGoFiles...) {
			if !strings.HasSuffix(file, "_test.go") {
				p.files = append(p.files, filepath.Join(listed.Dir, file))
			}
		}
		for _, imported := range listed.Imports {
			if within(imported, module) {
				p.own = append(p.own, below(imported))
			} else {
				p.outside = append(p.outside, imported)
			}
		}
		packages = append(packages, p)
	}
})

func below(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}
