package docgen_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
)

var sqlBlock = regexp.MustCompile("(?s)```sql\n(.*?)```")

// The lines of the guide run as they are written, one block after the other.
func TestPsqlGuideRuns(t *testing.T) {
	db := dbtest.New(t)
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "guides", "psql.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := sqlBlock.FindAllSubmatch(raw, -1)
	if len(blocks) < 4 {
		t.Fatalf("%d blocks of SQL in the guide", len(blocks))
	}
	for _, b := range blocks {
		conn, err := db.Owner.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = conn.Conn().PgConn().Exec(t.Context(), string(b[1])).ReadAll()
		conn.Release()
		if err != nil {
			t.Errorf("%v in\n%s", err, b[1])
		}
	}
}
