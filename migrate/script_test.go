// holds: I1

package migrate

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func psql(t *testing.T, address, script string) {
	t.Helper()
	client(t, "psql", script, "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname", address)
}

func TestAPlanDoesWhatUpDoes(t *testing.T) {
	for name, want := range map[string]schema{"sample": sample(), "embedded": embedded()} {
		t.Run(name, func(t *testing.T) {
			byUp := cluster.URL(newDatabase(t, cluster))
			mustUp(t, connect(t, byUp), nil, want)

			byPlan := cluster.URL(newDatabase(t, cluster))
			pool := connect(t, byPlan)
			var script bytes.Buffer
			if err := plan(t.Context(), pool, &script, nil, want); err != nil {
				t.Fatal(err)
			}
			if value[bool](t, pool, `select to_regnamespace('core') is not null`) {
				t.Fatal("planning changed the database")
			}
			psql(t, byPlan, script.String())
			if diff := cmp.Diff(dumpOf(t, byUp), dumpOf(t, byPlan)); diff != "" {
				t.Errorf("up and plan differ:\n%s", diff)
			}

			script.Reset()
			if err := plan(t.Context(), pool, &script, nil, want); err != nil || script.Len() > 0 {
				t.Errorf("nothing is left to do, and the plan is %q, %v", script.String(), err)
			}

			byDump := cluster.URL(newDatabase(t, cluster))
			if err := dump(&script, 0, want); err != nil {
				t.Fatal(err)
			}
			psql(t, byDump, script.String())
			if diff := cmp.Diff(dumpOf(t, byUp), dumpOf(t, byDump)); diff != "" {
				t.Errorf("up and dump differ:\n%s", diff)
			}
			if report, err := status(t.Context(), connect(t, byDump), want); err != nil || len(report.Applied) > 0 {
				t.Errorf("after the dump there is still to do: %+v, %v", report, err)
			}
		})
	}
}

func TestADumpFromAVersionUpgradesIt(t *testing.T) {
	address := cluster.URL(newDatabase(t, cluster))
	pool := connect(t, address)
	old := sample()
	old.migrations = old.migrations[:1]
	mustUp(t, pool, nil, old)
	var script bytes.Buffer
	if err := dump(&script, 1, sample()); err != nil {
		t.Fatal(err)
	}
	psql(t, address, script.String())
	if report, err := status(t.Context(), pool, sample()); err != nil || report.Version != 2 || len(report.Applied) > 0 {
		t.Errorf("after the upgrade: %+v, %v", report, err)
	}
	if _, err := pool.Exec(t.Context(), `drop table core.namespaces cascade`); err != nil {
		t.Fatal(err)
	}
}

func TestAScriptRefusesAnotherVersion(t *testing.T) {
	pool := connect(t, cluster.URL(newDatabase(t, cluster)))
	mustUp(t, pool, nil, sample())
	var script bytes.Buffer
	if err := dump(&script, 1, sample()); err != nil {
		t.Fatal(err)
	}
	_, statements, _ := bytes.Cut(script.Bytes(), []byte("\\set ON_ERROR_STOP on\n"))
	_, err := pool.Exec(t.Context(), string(statements))
	if err == nil {
		t.Fatal("the script ran on a schema of a newer version")
	}
	_ = wantCode(t, wrap("run", err), "NX501")
	if err := dump(&script, 3, sample()); err == nil {
		t.Error("there is no version 3")
	}
}

func TestARestoredDatabaseIsUpToDate(t *testing.T) {
	address := installed(t)
	restored := cluster.URL(newDatabase(t, cluster))
	psql(t, restored, client(t, "pg_dump", "", address))
	report := mustUp(t, connect(t, restored), nil, embedded())
	if len(report.Applied) > 0 || len(report.Drift) > 0 || len(report.Orphans) > 0 {
		t.Errorf("after a restore there is to do: %+v", report)
	}
}

func TestTheSearchPathOfTheSessionStays(t *testing.T) {
	const path = `"$user", app, public`
	pool := onePath(t, cluster.URL(newDatabase(t, cluster)), path)
	mustUp(t, pool, nil, embedded())
	if got := value[string](t, pool, `select current_setting('search_path')`); got != path {
		t.Errorf("after Up the search_path is %s", got)
	}

	var script bytes.Buffer
	if err := dump(&script, 0, embedded()); err != nil {
		t.Fatal(err)
	}
	psql(t, cluster.URL(newDatabase(t, cluster)), `set search_path = `+path+`;
`+script.String()+`
do $$ begin assert current_setting('search_path') = '`+path+`', current_setting('search_path'); end $$;`)
}

// onePath has one connection, with a search_path of its own.
func onePath(t *testing.T, address, path string) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns = 1
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "set search_path = "+path)
		return err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}
