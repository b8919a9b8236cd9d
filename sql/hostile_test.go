package nexussql_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/everycall"
)

// hostile are values of each type that nobody means, as SQL.
var hostile = map[string][]string{
	"timestamp with time zone": {"'infinity'", "'-infinity'", "'200000-01-01Z'", "'294276-12-31Z'", "'4713-01-01 BC'", "'2000-02-29Z'"},
	"interval":                 {"'0'", "'-1 s'", "'1 month'", "'1000000 months'", "'178000000 years'", "'-178000000 years'", "'2147483647 days'"},
	"integer":                  {"'0'", "'-1'", "'2147483647'", "'-2147483648'"},
	"bigint":                   {"'0'", "'-1'", "'9223372036854775807'", "'-9223372036854775808'"},
	"double precision":         {"'NaN'", "'Infinity'", "'-Infinity'", "-1", "1e308"},
	"text": {"''", "' '", "repeat('x', 1000000)", "repeat('漢', 30000)", "e'\\x1b[2J\\x07'", "e'\\u202e\\u2066'", `'";--'`, "'%s %I %'", "'../../etc/passwd'",
		"e'a\\nb'", "'\\'", "'pg_catalog.pg_class'"},
	"uuid":         {"'00000000-0000-0000-0000-000000000000'"},
	"boolean":      {"true", "false"},
	"oid":          {"'0'", "'4294967295'"},
	"regclass":     {"'0'", "'4294967295'", "'pg_catalog.pg_class'"},
	"regprocedure": {"'0'", "'4294967295'", "'pg_catalog.now()'"},
	"text[]": {"'{}'", "'{NULL}'", "'{a,NULL}'", "'{{a,b},{c,d}}'", "'[5:6]={a,b}'", "array_fill('a'::text, array[20000])", "array[repeat('x', 1000000)]",
		"'{\"\"}'", "'{*,a.*,\"a b\"}'"},
	"bytea":                      {"''", "repeat('x', 1000000)::bytea", `'\\x00ff'`},
	"bytea[]":                    {"'{}'", "'{NULL}'", "'{{a,b},{c,d}}'", "'[5:6]={a,b}'", "array_fill('a'::bytea, array[20000])", "array[repeat('x', 1000000)::bytea]"},
	"uuid[]":                     {"'{}'", "'{NULL}'", "'{{00000000-0000-0000-0000-000000000000},{00000000-0000-0000-0000-000000000001}}'", "'[5:5]={00000000-0000-0000-0000-000000000000}'"},
	"integer[]":                  {"'{}'", "'{NULL}'", "'{1,NULL}'", "'{{1,2},{3,4}}'", "'[5:5]={1}'", "'{-2147483648,2147483647}'", "array_fill(1, array[20000])"},
	"bigint[]":                   {"'{}'", "'{NULL}'", "'{1,NULL}'", "'{{1,2},{3,4}}'", "'[5:5]={1}'", "'{-9223372036854775808,9223372036854775807}'", "array_fill(1::bigint, array[20000])"},
	"interval[]":                 {"'{}'", "'{NULL}'", "'{1 s,NULL}'", "'{178000000 years}'", "'{-178000000 years}'", "'{-1 s}'", "'{1000000 months}'"},
	"timestamp with time zone[]": {"'{}'", "'{NULL}'", "'{infinity}'", "'{-infinity}'", "'{294276-12-31Z}'", "'{4713-01-01 BC}'", "'{{2026-01-01Z},{2026-01-02Z}}'"},
	"jsonb[]": {"'{}'", "'{NULL}'", "array['null']::jsonb[]", "array['[]', '1']::jsonb[]", "array['{\"nope\": 1}']::jsonb[]", "array['{}', null]::jsonb[]",
		"array[array['{}'], array['{}']]::jsonb[]"},
	"jsonb": {"'null'", "'[]'", "'1'", "'\"x\"'", "'{\"nope\": 1}'", "'{\"\": 1}'", "'1e400'", "'[1e400]'", "(repeat('[', 2000) || repeat(']', 2000))::jsonb",
		"jsonb_build_object('a', repeat('x', 9000000))", "'[null]'", "'[{}]'", "'[[]]'", "'{\"a\": null}'"},
}

// hostileJSON are the values of a key.
var hostileJSON = []string{
	`null`, `true`, `0`, `-1`, `1.5`, `1e400`, `99999999999999999999`, `""`, `"x"`, `"infinity"`, `"-infinity"`, `"200000-01-01T00:00:00Z"`,
	`"2026-13-45T99:99:99Z"`, `"2026-01-01T00:00:00Z"`, `"2026-01-01T00:00:00+99:99"`, `"0001-01-01T00:00:00Z"`, `"1 s"`, `"1 month"`, `"-1 s"`, `"999999999999 years"`,
	`"178000000 years"`, `"-178000000 years"`, `"1e300 s"`, `[]`, `[null]`, `[1]`, `["x"]`, `[[]]`, `{}`, `{"a": 1}`, `{"a": "b"}`, `"\u202e\u001b"`,
	`"00000000-0000-0000-0000-000000000000"`, `["99999999999999999999"]`, `[99999999999999999999]`, `[1.5]`, `[-1]`, `["*"]`,
}

// rawErrors executes calls and says which of them end in an error that is none of Nexus's, or of theirs one that names nothing.
const rawErrors = `
create function public.raw_errors(p_calls text[]) returns setof text language plpgsql as $f$
declare
	v_call   text;
	v_code   text;
	v_text   text;
	v_column text;
	v_hint   text;
	v_where  text;
begin
	foreach v_call in array p_calls loop
		begin
			execute 'select * from ' || v_call;
			raise exception using errcode = 'P9999';
		exception when others then
			get stacked diagnostics v_code = returned_sqlstate, v_text = message_text, v_column = column_name, v_hint = pg_exception_hint, v_where = pg_exception_context;
			if v_code !~ '^(NX|P9999)' or v_code ~ '^NX' and v_code not in ('NX211', 'NX701', 'NX702', 'NX703') and (v_column = '' or v_hint = '' or length(v_text) > 2000) then
				return next format('%s: %s %s [%s] %s', left(v_call, 300), v_code, left(v_text, 300), v_column, left(v_where, 160));
			end if;
		end;
	end loop;
end $f$`

// Each argument of each function gets what nobody means, the others being as they should. What comes of it is done or refused by a
// code of Nexus that names the argument: Postgres's own words for it name neither the argument nor the mend.
// holds: hostile-arguments (each argument of each function: times, intervals, numbers at their ends, arrays, texts, every key of options)
func TestHostileArgumentsAreRefusedByName(t *testing.T) {
	db := dbtest.New(t)
	place := everycall.Make(t, db, "shop", false)
	keys, read := column(t, db, `select distinct unnest(keys) from (`+keysRead+`) r order by 1`), map[string][]string{}
	for _, line := range column(t, db, `select signature || ' ' || array_to_string(keys, ' ') from (`+keysRead+`) r`) {
		signature, own, _ := strings.Cut(line, ") ")
		read[signature+")"] = strings.Fields(own)
	}
	db.Exec(rawErrors)
	db.Exec(knows)
	for _, r := range everycall.Routines(t, db) {
		var calls []string
		try := func(name, value string) { calls = append(calls, r.Call(place, map[string]string{name: value})) }
		for _, a := range r.Arguments {
			values, known := hostile[a.Type]
			if !known {
				t.Errorf("%s.%s: there are no hostile values of type %s", r.Schema, r.Key, a.Type)
			}
			// Of a path Postgres says itself which parameter and value are wrong, and nothing may come after it is set.
			if a.Name == "p_search_path" {
				continue
			}
			for _, v := range values {
				try(a.Name, v+"::"+a.Type)
			}
			if a.Type != "jsonb" || a.Name == "p_payload" || a.Name == "p_value" || a.Name == "p_reply" || a.Name == "p_info" || a.Name == "p_metadata" {
				continue
			}
			with := func(key, value string) string {
				if a.Name == "p_tasks" {
					return fmt.Sprintf(`jsonb_build_array(jsonb_build_object('namespace', 'shop', 'name', 'x', 'cron_expression', '@daily', 'event_type', 'a') || '{"%s": %s}')`, key, value)
				}
				return fmt.Sprintf(`'{"%s": %s}'::jsonb`, key, value)
			}
			// Some take any key, and hand it on. With NEXUS_TEST_LONG all keys of all functions are tried.
			tried := read[r.Signature()]
			if os.Getenv("NEXUS_TEST_LONG") != "" {
				tried = keys
			}
			// Only what a key changes gets further than its name.
			known = false
			for _, key := range tried {
				if !accepts(db, r.Call(place, map[string]string{a.Name: with(key, `"x"`)})) {
					continue
				}
				known = true
				for _, v := range hostileJSON {
					try(a.Name, with(key, v))
				}
			}
			if !known {
				t.Errorf("%s.%s knows no key of %s", r.Schema, r.Key, a.Name)
			}
		}
		var found []string
		for chunk := range slices.Chunk(calls, 500) {
			rows, err := db.Owner.Query(t.Context(), "select public.raw_errors($1)", chunk)
			if err != nil {
				t.Fatal(err)
			}
			for rows.Next() {
				var line string
				if err := rows.Scan(&line); err != nil {
					t.Fatal(err)
				}
				found = append(found, line)
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range found {
			t.Error(strings.ReplaceAll(line, "\n", " "))
		}
	}
}

// keysRead are the functions, and the keys that each reads or one does that it calls.
const keysRead = `
	with recursive ours as (
	  select p.oid, p.proname, p.prosrc, format('%s.%s(%s)', p.pronamespace::regnamespace, p.proname,
	           array_to_string(array(select format_type(y, null) from unnest(p.proargtypes) y), ',')) as signature
	    from pg_proc p where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)),
	calls as (
	  select distinct o.oid as caller, c.oid as called from ours o
	   cross join regexp_matches(o.prosrc, '\mcore(?:_node|_private)?\.([a-z0-9_]+)', 'g') m join ours c on c.proname = m[1]),
	reached as (
	  select o.oid as caller, o.oid as called from ours o
	   union select r.caller, c.called from reached r join calls c on c.caller = r.called),
	own as (
	  select distinct o.oid, coalesce(m[1], m[2], m[3]) as key from ours o
	   cross join regexp_matches(o.prosrc, '\? ''([a-z_]+)''|->>? ''([a-z_]+)''|''([a-z_]+)''(?=[,\]])', 'g') m)
	select o.signature, array_agg(distinct k.key order by k.key) as keys
	  from reached r join own k on k.oid = r.called join ours o on o.oid = r.caller group by 1`

// accepts reports whether a key is one that the function has.
func accepts(db *dbtest.DB, call string) bool {
	return dbtest.Get[bool](db, "select public.knows($1)", call)
}

const knows = `
create function public.knows(p_call text) returns boolean language plpgsql as $f$
declare v_text text;
begin
	execute 'select * from ' || p_call;
	raise exception using errcode = 'P9999';
exception
	when sqlstate 'P9999' then return true;
	when others then
		get stacked diagnostics v_text = message_text;
		return sqlstate not in ('NX004') and v_text !~ 'has no key|no criterion|unknown key|no filter';
end $f$`
