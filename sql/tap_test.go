package nexussql_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// tapDB is a database with pgTAP in schema tap.
func tapDB(t *testing.T) *dbtest.DB {
	t.Helper()
	db := dbtest.New(t)
	if !dbtest.Get[bool](db, `select exists (select from pg_extension where extname = 'pgtap')`) {
		t.Skip("this server has no pgtap")
	}
	return db
}

type tapResult struct {
	ok   bool
	name string
	diag string // the lines that pgTAP writes below a failure
}

// fromOne lets a script count on the ids that its rows get. Sequences don't roll back, but what restarts them does.
//
// pg_temp.ats gives the times that belong to the fences of messages, pg_temp.failed makes verdicts of parallel arrays.
const fromOne = `
do $$ declare s regclass; begin
	for s in select c.oid from pg_class c where c.relkind = 'S' and c.relnamespace = 'core'::regnamespace loop
		execute format('alter sequence %s restart', s);
	end loop;
end $$;
create function pg_temp.ats(p_ids bigint[], p_queue text = 'core_events_shop') returns timestamptz[] language plpgsql as $$
declare v_ats timestamptz[]; begin
	execute format('select array_agg(q.last_read_at order by u.n) from unnest($1) with ordinality u(id, n) left join pgmq.%I q on q.msg_id = u.id', 'q_' || p_queue)
	   into v_ats using p_ids;
	return coalesce(v_ats, '{}');
end $$;
create function pg_temp.failed(p_ids bigint[], p_cts integer[], p_ats timestamptz[], p_actions text[], p_afters interval[], p_policies jsonb[], p_reasons text[], p_errors text[])
returns jsonb language sql as $$
	select coalesce(jsonb_agg(to_jsonb(f) - 'n' order by f.n), '[]')
	  from unnest(p_ids, p_cts, p_ats, p_actions, p_afters, p_policies, p_reasons, p_errors) with ordinality f(id, ct, at, action, after, policy, reason, error, n)
$$;
`

var tapLine = regexp.MustCompile(`^(not ok|ok) \d+(?: - )?(.*)$`)

// runTAP runs statements as the superuser, then a pgTAP script, in one transaction that is rolled back. An error of the script
// comes with the results up to it.
func runTAP(t *testing.T, db *dbtest.DB, before, script string) ([]tapResult, error) {
	t.Helper()
	cfg, err := pgx.ParseConfig(db.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	cfg.RuntimeParams["search_path"] = "tap, pg_catalog"
	conn, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "begin;\n"+fromOne+before, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf("before the script: %v", err)
	}
	results, scriptErr := conn.PgConn().Exec(t.Context(), "select no_plan();\n"+script+"\nselect * from finish(); rollback").ReadAll()
	var found []tapResult
	for _, r := range results {
		for _, row := range r.Rows {
			for _, v := range row {
				for line := range strings.Lines(string(v)) {
					line = strings.TrimSuffix(line, "\n")
					if m := tapLine.FindStringSubmatch(line); m != nil {
						found = append(found, tapResult{ok: m[1] == "ok", name: m[2]})
					} else if n := len(found); n > 0 && !found[n-1].ok && strings.HasPrefix(line, "#") {
						found[n-1].diag += line + "\n"
					}
				}
			}
		}
	}
	return found, scriptErr
}

// Each file of sql/tests is a pgTAP script that runs in a transaction of its own, rolled back at the end.
func TestPgTAP(t *testing.T) {
	db := tapDB(t)
	files, err := filepath.Glob("tests/*/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(f), "tests/"), ".sql"), func(t *testing.T) {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			results, err := runTAP(t, db, "", string(raw))
			for _, r := range results {
				t.Run(r.name, func(t *testing.T) {
					if !r.ok {
						t.Errorf("not ok\n%s", r.diag)
					}
				})
			}
			if err != nil {
				t.Errorf("the script failed: %v", err)
			} else if len(results) == 0 {
				t.Error("the script asserts nothing")
			}
		})
	}
}
