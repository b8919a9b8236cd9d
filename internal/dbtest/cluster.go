package dbtest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

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

// ClusterPool is a superuser's on the copy of the template that such a server has, a small one as programs have by default.
func ClusterPool(t testing.TB, c *pgdev.Cluster) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(c.URL(pgdev.TestCronDatabase))
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns = 4
	p, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}
