// holds: I1-upgrade

package migrate

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	nexussql "github.com/nexuspg/nexus/sql"
)

// landed is the installing script of an earlier version, without what only psql understands. scripts/landed-schema makes the files.
func landed(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".sql.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	_, statements, found := strings.Cut(string(text), "\\set ON_ERROR_STOP on\n")
	if !found {
		t.Fatalf("%s is no script of migrate dump", name)
	}
	return statements
}

// landedSchemas are the versions since 0.1.0, by the number of their newest migration.
var landedSchemas = []int{1}

// Whatever earlier version there was: after the upgrade the schemas hold what this one brings and nothing else of Nexus's, and what
// somebody else made is named and still there.
func TestUpgradesFromLandedSchemas(t *testing.T) {
	if testing.Short() {
		t.Skip("upgrades from each schema that landed, which takes minutes: not with -short")
	}
	fresh := connect(t, installed(t))
	for _, version := range landedSchemas {
		name := fmt.Sprintf("schema-%d", version)
		t.Run(name, func(t *testing.T) {
			address := cluster.URL(newDatabase(t, cluster))
			pool := connect(t, address)
			execute(t, address, landed(t, name))
			before := signatures(t, pool)
			execute(t, address, `create function core.of_a_user(text) returns text language sql as 'select $1';
				create function core.emit(bigint) returns bigint language sql as 'select $1';
				create view core_private.of_a_user as select 1 as one`)
			look, err := Status(t.Context(), pool)
			if err != nil {
				t.Fatal(err)
			}
			var planned bytes.Buffer
			if err := Plan(t.Context(), pool, &planned, nil); err != nil {
				t.Fatal(err)
			}
			report := mustUp(t, pool, nil, embedded())
			if diff := cmp.Diff(report.Applied, look.Applied); diff != "" {
				t.Errorf("status foretold (-applied +foretold)\n%s", diff)
			}
			theirs := []string{"core.emit(bigint)", "core.of_a_user(text)", "core_private.of_a_user"}
			if diff := cmp.Diff(theirs, report.Orphans); diff != "" {
				t.Errorf("not Nexus's (-want +got)\n%s", diff)
			}
			var want []string
			if err := pool.QueryRow(t.Context(), `
				select array_agg(s.signature) from core_private.installed_objects o cross join unnest(o.signatures) s (signature)
				 where o.kind in ('function', 'view')`).Scan(&want); err != nil {
				t.Fatal(err)
			}
			want = append(want, theirs...)
			slices.Sort(want)
			after := signatures(t, pool)
			if diff := cmp.Diff(want, after); diff != "" {
				t.Errorf("the schemas hold (-what this version brings +what is there)\n%s", diff)
			}
			for _, signature := range before {
				if !slices.Contains(after, signature) && !strings.Contains(strings.Join(look.Applied, "\n"), signature) && !droppedByMigration(signature) {
					t.Errorf("status did not say that %s goes", signature)
				}
				if !slices.Contains(after, signature) && !strings.Contains(planned.String(), signature) && !droppedByMigration(signature) {
					t.Errorf("the plan does not say that %s goes", signature)
				}
			}
			if diff := cmp.Diff(value[[]string](t, fresh, stored), value[[]string](t, pool, stored)); diff != "" {
				t.Errorf("what is stored is not as a new installation has it (-new +upgraded)\n%s", diff)
			}
			if again := mustUp(t, pool, nil, embedded()); len(again.Applied) > 0 {
				t.Errorf("the second run applied %q", again.Applied)
			}
		})
	}
}

// stored are columns, constraints, indexes, triggers, policies and types, wherever they stand in their tables.
const stored = `
	select array_agg(line order by line collate "C") from (
	  select format('column %s.%s %s %s %s %s %s', a.attrelid::regclass, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
	           a.attidentity, pg_get_expr(d.adbin, d.adrelid), col_description(a.attrelid, a.attnum)) as line
	    from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
	   where a.attnum > 0 and not a.attisdropped and c.relname <> 'of_a_user' and c.relkind in ('r', 'p', 'v', 'c', 'S') and not c.relispartition
	     and c.relnamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
	  union all
	  select format('table %s %s %s %s %s', c.oid::regclass, c.relrowsecurity, c.relforcerowsecurity, c.reloptions, obj_description(c.oid, 'pg_class'))
	    from pg_class c
	   where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
	  union all
	  select format('constraint %s %s', conrelid::regclass, pg_get_constraintdef(k.oid)) from pg_constraint k join pg_class c on c.oid = conrelid
	   where not c.relispartition and c.relnamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
	  union all
	  select pg_get_indexdef(i.indexrelid) from pg_index i join pg_class c on c.oid = i.indrelid
	   where not c.relispartition and c.relnamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
	  union all
	  select pg_get_triggerdef(g.oid) from pg_trigger g join pg_class c on c.oid = g.tgrelid
	   where not g.tgisinternal and not c.relispartition and c.relnamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
	  union all
	  select format('policy %s %s %s', polrelid::regclass, polname, pg_get_expr(polqual, polrelid)) from pg_policy p join pg_class c on c.oid = polrelid
	   where c.relnamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)) l`

func droppedByMigration(signature string) bool {
	name, _, _ := strings.Cut(signature, "(")
	return slices.ContainsFunc(embedded().migrations, func(m nexussql.File) bool {
		return regexp.MustCompile(`(?i)drop (function|view)[^;]*` + regexp.QuoteMeta(name)).MatchString(m.Body)
	})
}

// signatures are the functions and views in the schemas.
func signatures(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	found := value[[]string](t, pool, `select array_agg(signature) from core_private.installed_definitions`)
	slices.Sort(found)
	return found
}

// A script that sees no database does the same.
func TestADumpUpgradesLandedSchemas(t *testing.T) {
	if testing.Short() {
		t.Skip("upgrades from each schema that landed, which takes minutes: not with -short")
	}
	for _, from := range landedSchemas {
		name := fmt.Sprintf("schema-%d", from)
		t.Run(name, func(t *testing.T) {
			var script bytes.Buffer
			if err := Dump(&script, from); err != nil {
				t.Fatal(err)
			}
			byUp, byDump := cluster.URL(newDatabase(t, cluster)), cluster.URL(newDatabase(t, cluster))
			for _, address := range []string{byUp, byDump} {
				execute(t, address, landed(t, name))
			}
			// The script cannot know what is there already, and writes everything anew: the order of rights shows it.
			mustUp(t, connect(t, byUp), &Options{Repair: true}, embedded())
			psql(t, byDump, script.String())
			if diff := cmp.Diff(dumpOf(t, byUp), dumpOf(t, byDump)); diff != "" {
				t.Errorf("up and dump differ:\n%s", diff)
			}
		})
	}
}

// Each schema that was kept is tried; the number in the file's name is that of its newest migration.
func TestLandedSchemasAreAllTried(t *testing.T) {
	files, err := filepath.Glob("testdata/schema-*.sql.gz")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(landedSchemas) {
		t.Errorf("testdata holds %q, tried are %d", files, landedSchemas)
	}
}

// What was before version 0.1.0 is refused by name, whoever asks, and nothing has happened.
func TestSchemasOfBefore010AreRefused(t *testing.T) {
	address := cluster.URL(newDatabase(t, cluster))
	pool := connect(t, address)
	execute(t, address, landed(t, "before-0.1.0"))
	before := dumpOf(t, address)
	refused := func(err error) {
		t.Helper()
		e := wantCode(t, err, nexus.CodeSchemaUnreleased)
		if !strings.Contains(e.Message, "version 37 of before 0.1.0") || e.Hint == "" {
			t.Errorf("it says %q and the hint %q", e.Message, e.Hint)
		}
	}
	_, err := Up(t.Context(), pool, nil)
	refused(err)
	refused(Plan(t.Context(), pool, io.Discard, nil))
	refused(Check(t.Context(), pool))
	var script bytes.Buffer
	if err := Dump(&script, 0); err != nil {
		t.Fatal(err)
	}
	_, said, err := tryClient(t, "psql", script.String(), "--no-psqlrc", "--quiet", "--dbname", address)
	if err == nil || !strings.Contains(said, "version 37 of before 0.1.0") {
		t.Errorf("the script says %q, %v", said, err)
	}
	if diff := cmp.Diff(before, dumpOf(t, address)); diff != "" {
		t.Errorf("something happened:\n%s", diff)
	}

	// What the hint says works.
	execute(t, address, leaveUnreleased[strings.Index(leaveUnreleased, "\n"):])
	mustUp(t, pool, nil, embedded())
}

// What somebody built on a function that goes is named, and nothing has happened.
func TestWhatIsBuiltOnARetiredFunctionIsNamed(t *testing.T) {
	address := cluster.URL(newDatabase(t, cluster))
	pool := connect(t, address)
	mustUp(t, pool, nil, sample())
	execute(t, address, `create view public.theirs as select core.emit('a') as id`)
	fewer := sample()
	fewer.functions = fewer.functions[1:]
	before := dumpOf(t, address)
	_, err := up(t.Context(), pool, nil, fewer)
	refused := wantCode(t, err, "NX506")
	if !strings.Contains(refused.Message, "core.emit(text)") || !strings.Contains(refused.Detail, "view public.theirs") || refused.Hint == "" {
		t.Errorf("it does not name what stands in the way: %+v", refused)
	}
	if diff := cmp.Diff(before, dumpOf(t, address)); diff != "" {
		t.Errorf("something happened:\n%s", diff)
	}
	execute(t, address, `drop view public.theirs`)
	mustUp(t, pool, nil, fewer)
}

// By the comments of a file status foretells what it creates.
func TestCommentsNameWhatFilesCreate(t *testing.T) {
	pool := connect(t, installed(t))
	want := embedded()
	for _, f := range slices.Concat(want.functions, want.views) {
		var created []string
		if err := pool.QueryRow(t.Context(), `select signatures from core_private.installed_objects where path = $1`, f.Path).Scan(&created); err != nil {
			t.Fatal(err)
		}
		said := commented(f)
		slices.Sort(said)
		slices.Sort(created)
		if diff := cmp.Diff(created, said); diff != "" {
			t.Errorf("%s (-created +said)\n%s", f.Path, diff)
		}
	}
}
