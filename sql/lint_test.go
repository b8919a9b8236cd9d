package nexussql_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func column(t *testing.T, db *dbtest.DB, sql string) []string {
	t.Helper()
	rows, err := db.Owner.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The lints find nothing, and each finds an offender that is made for it.
func TestLints(t *testing.T) {
	offenders := map[string]string{
		"search_path_is_pinned":      `create function core.offender() returns int language sql as 'select 1'`,
		"public_may_do_nothing":      `create function core.offender() returns int language sql as 'select 1'; grant execute on function core.offender() to public`,
		"everything_has_a_comment":   `create table core.offender (i int primary key)`,
		"columns_have_comments":      `create table core.offender (i int primary key)`,
		"definers_belong_to_nexus":   `create function core.offender() returns int language sql security definer as 'select 1'`,
		"raises_are_coded":           `create function core.offender() returns void language plpgsql as 'begin raise exception ''no''; end'`,
		"raised_codes_are_listed":    `create function core.offender() returns void language plpgsql as 'begin raise exception using errcode = ''NX998''; end'`,
		"codes_are_raised":           `insert into core.error_codes values ('NX997', 'x', 'x')`,
		"clock_is_not_in_a_where":    `create function core.offender() returns void language plpgsql as 'begin perform from core.nodes where last_heartbeat < core_private.now(); end'`,
		"foreign_keys_have_indexes":  `create table core.offender (i int primary key, n text references core.namespaces)`,
		"planner_settings_spare_jit": `create function core.offender() returns int language sql set enable_sort = off as 'select 1'`,
		"backslashes_are_marked":     `create function core.offender() returns bool language sql as $$ select 'a' ~ '\.' $$`,
		"words_are_one":              `create function core.offender(out queue text) language sql as $$ select 1::text $$`,
		"tables_have_primary_keys":   `create table core.offender (i int)`,
		"paths_of_callers_come_last": `create function core.offender(p_search_path text = '') returns text language plpgsql as
			'begin perform set_config(''search_path'', p_search_path, false); return lower(''X''); end'`,
	}
	db := dbtest.New(t)
	files, err := filepath.Glob("lint/*.sql")
	if err != nil || len(files) != len(offenders) {
		t.Fatalf("%d lints, %d offenders, %v", len(files), len(offenders), err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".sql")
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, o := range column(t, db, string(raw)) {
				// The tests' own clock is not as the file says.
				if o != "core_private.now()" {
					found = append(found, o)
				}
			}
			if len(found) > 0 {
				t.Errorf("offenders: %v", found)
			}
			db.Exec(offenders[name])
			after := strings.Join(column(t, db, string(raw)), " ")
			if !strings.Contains(after, "offender") {
				t.Errorf("the lint does not find its offender (%s); it found %q", offenders[name], after)
			}
			db.Exec(`do $$ begin drop function if exists core.offender; drop table if exists core.offender; delete from core.error_codes where code = 'NX997'; end $$`)
		})
	}
}

// A plan that is guessed to cost more than jit_above_cost is compiled first, which takes seconds: the thousand rows that are assumed of a
// function, twice, make a view over ten consumers such a plan. What functions return is said by their ROWS.
func TestViewsAreNotCompiled(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	const most = 20_000 // jit_above_cost is 100,000, and who reads a view joins it
	db.Exec(`create function public.cost_of(p_view regclass) returns float8 language plpgsql as $$
		declare v_plan json; begin execute format('explain (format json) select * from %s', p_view) into v_plan; return v_plan #>> '{0,Plan,Total Cost}'; end $$`)
	costly := func() []string {
		return column(t, db, fmt.Sprintf(`select c.oid::regclass::text from pg_class c
			where c.relkind = 'v' and c.relnamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
			  and public.cost_of(c.oid) > %d`, most))
	}
	if views := costly(); len(views) > 0 {
		t.Errorf("their plans are guessed to cost more than %d: %q", most, views)
	}
	db.Exec(`alter function core_private.backfills_of(integer) rows 1000; alter function core_private.limits_of(integer) rows 1000`)
	if views := costly(); len(views) != 1 {
		t.Errorf("with a thousand rows assumed of each: %q", views)
	}
}

// Bodies are text to CREATE FUNCTION; plpgsql_check reads them.
func TestBodiesCheckOut(t *testing.T) {
	db := dbtest.New(t)
	if !dbtest.Get[bool](db, `select exists (select from pg_extension where extname = 'plpgsql_check')`) {
		t.Skip("this server has no plpgsql_check")
	}
	// What watches tables is a trigger of none before.
	db.Exec(`select core.create_namespace('shop'); create table public.watched (id integer primary key); create table public.parts (id integer) partition by list (id);
		select core.watch_table('shop', 'public.watched', 'a'), core.watch_table('shop', 'public.parts', 'b')`)
	found := column(t, db, `
		select format('%s line %s: %s %s', p.oid::regprocedure, c.lineno, c.level, c.message)
		  from pg_proc p join pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
		  left join lateral (select t.tgrelid, t.tgoldtable, t.tgnewtable from pg_trigger t where t.tgfoid = p.oid and t.tgparentid = 0 limit 1) t on true
		 cross join lateral tap.plpgsql_check_function_tb(p.oid, coalesce(t.tgrelid, 0),
		                 performance_warnings := false, extra_warnings := true, oldtable := t.tgoldtable, newtable := t.tgnewtable) c
		 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
		   and (c.level = 'error' or c.message like 'unused%' or c.message like 'never read%')
		   and c.message not like 'cannot determinate a result of dynamic SQL%'
		   and not (p.proname = 'note_rows' and c.message ~ '"(old|new)_rows" does not exist') -- each op has its own
		   and c.message not like '%core_private.moved_events%' -- a table that exists only while the function runs
		   -- what kinds of dead letters and of triggers do is called by name, with one list of arguments for all of them
		   and not (c.message like 'unused parameter%'
		            and (exists (select from core_private.source_kinds() k where p.proname in (k.replay, k.why))
		                 or exists (select from core_private.trigger_kinds() k where p.proname = 'check_' || k.kind || '_source')))
		`)
	for _, f := range found {
		t.Error(f)
	}
}

// One function a file, named like it.
func TestFilesAreNamedLikeTheirFunctions(t *testing.T) {
	for _, pattern := range []string{"functions/*/*.sql", "extensions/*/*.sql"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			body := string(raw)
			name := strings.TrimSuffix(filepath.Base(f), ".sql")
			if name == "core_now" {
				name = "now" // there are two clocks to call, one file each
			}
			body = strings.Replace(body, "create or replace procedure ", "create or replace function ", 1)
			const create = "create or replace function "
			own := strings.Count(body, create+"core."+name+"(") + strings.Count(body, create+"core_node."+name+"(") + strings.Count(body, create+"core_private."+name+"(") // overloads are one thing
			if all := strings.Count(body, create); own == 0 || own != all {
				t.Errorf("%s holds %d functions, %d of them named %s", f, all, own, name)
			}
		}
	}
}
