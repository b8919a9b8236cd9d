package dbtest

import (
	"context"
	"testing"

	"github.com/nexuspg/nexus/internal/pgdev"
)

// Cluster is a server of the test's own, which may be killed, restarted and set as it likes, until the test ends. prepare makes the template:
// [BuildTemplate] does; nil: there is none.
func Cluster(t testing.TB, o pgdev.Options, prepare pgdev.Prepare) *pgdev.Cluster {
	t.Helper()
	c, err := pgdev.StartForTests(t.Context(), o, prepare)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}
