package docgen_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/docgen"
	"github.com/nexuspg/nexus/internal/dbtest"
)

// envUpdate rewrites the pages in place of comparing them.
const envUpdate = "NEXUS_UPDATE_DOCS"

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestReferenceIsUpToDate(t *testing.T) {
	db := dbtest.New(t)
	for _, page := range docgen.Pages {
		t.Run(page.Name, func(t *testing.T) {
			got, err := page.Write(t.Context(), db.Owner)
			if err != nil {
				t.Fatal(err)
			}
			asCommitted(t, page.Name, got)
		})
	}
}

// asCommitted compares a page of docs/reference with what it should be, or writes it.
func asCommitted(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "..", "docs", "reference", name)
	if os.Getenv(envUpdate) != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/reference/%s is out of date, run `make docs` (-committed +database):\n%s", name, diff)
	}
}
