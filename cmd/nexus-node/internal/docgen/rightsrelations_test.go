package docgen_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// denied is a refusal by the grants of a table, its schema or its columns.
func denied(a answer) bool {
	return a.code == "42501" && strings.HasPrefix(a.said, "permission denied for ")
}

// relations are what schema core shows, and the tables of one queue.
func (x *trial) relations() []string {
	x.Helper()
	return dbtest.Get[[]string](x.db, `
		select array_agg(c.oid::regclass::text order by c.relnamespace::regnamespace::text collate "C", c.relname collate "C") from pg_class c
		 where c.relkind in ('r', 'p', 'v', 'm') and not c.relispartition
		   and (c.relnamespace = 'core'::regnamespace or c.relname in ('q_core_events_shop', 'q_core_events_shop_dlq', 'a_core_events_shop'))`)
}

// twin is the same relation of another namespace, where each has its own.
func twin(relation, namespace string) string {
	return strings.ReplaceAll(relation, openName, namespace)
}

// relationRights are the rows of the table of relations: what each may do with one, whose rows are seen, and what remains of that
// with row_security off.
func (x *trial) relationRights() [][]string {
	x.Helper()
	x.db.Exec(`create function public.look(anyelement) returns boolean language plpgsql cost 0.000001 as $$ begin
		if $1::text like '%` + closedName + `%' then raise exception 'seen: %', $1; end if; return true; end $$`)
	x.db.Exec("grant usage on schema public to public")
	var table [][]string
	for _, relation := range x.relations() {
		row := []string{"`" + strings.ReplaceAll(relation, openName, "…") + "`"}
		for _, c := range columns {
			row = append(row, strings.Join(x.verbs(c, relation), ", "))
		}
		table = append(table, append(row, x.rowsOf(relation), x.withoutRowSecurity(relation)))
	}
	return table
}

var firstColumns = `select array_agg(quote_ident(attname) order by attnum) from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`

// verbs are what a caller may do with a relation, each tried.
func (x *trial) verbs(c caller, relation string) []string {
	x.Helper()
	view := dbtest.Get[bool](x.db, "select relkind = 'v' from pg_class where oid = $1::regclass", relation)
	tries := []struct{ name, sql string }{
		{"read", "select 1 from " + relation + " limit 1"},
		{"insert", "insert into " + relation + " default values returning 1"},
		{"delete", "delete from " + relation + " where false returning 1"},
		{"truncate", "do 'begin truncate " + relation + " cascade; end'"},
		{"lock", "do 'begin lock table " + relation + " in access exclusive mode; end'"},
	}
	var may []string
	for _, try := range tries {
		if view && try.name != "read" {
			continue
		}
		// Another right would be needed to see what was written.
		a := x.ask(c, "on", strings.TrimSuffix(try.sql, " returning 1"))
		if denied(a) {
			continue
		}
		may = append(may, try.name)
		if a.code != "" && try.name == "read" {
			x.Errorf("%s reads %s: %v", c.title, relation, a)
		}
	}
	if !view && slices.ContainsFunc(dbtest.Get[[]string](x.db, firstColumns, relation), func(column string) bool {
		a := x.ask(c, "on", fmt.Sprintf("update %s set %s = default where false", relation, column))
		return !denied(a) && a.code != "428C9" // a column that is generated takes no default but this
	}) {
		may = append(may, "update")
	}
	return may
}

var barrier = regexp.MustCompile(`^seen: `)

// rowsOf says whose rows readers see. Who may not see the restricted namespace sees none of its rows, whatever it asks: a function of
// the caller's that is cheaper than the condition that hides rows is called first where nothing stands in between.
func (x *trial) rowsOf(relation string) string {
	x.Helper()
	closed := twin(relation, closedName)
	count := "select count(*) filter (where r::text like '%" + closedName + "%') || ' ' || count(*) from " + closed + " r"
	admin, reader := columns[0], grantees[3]
	of := "every row"
	a := x.ask(admin, "on", count)
	if denied(a) {
		return "–"
	}
	if a.code != "" {
		x.Errorf("the admin reads %s: %v", closed, a)
	}
	hides := !strings.HasPrefix(a.said, "0 ")
	if hides {
		of = "of namespaces it may see"
		if a := x.ask(reader, "on", count); strings.HasPrefix(a.said, "0 ") || a.code != "" {
			x.Errorf("a reader with a grant sees nothing of %s in %s: %v", closedName, closed, a)
		}
	} else if closed != relation && !strings.HasPrefix(relation, "pgmq.a_") {
		x.Errorf("there is nothing in %s to hide", closed)
	}
	for _, c := range columns[1:] {
		for _, rowSecurity := range []string{"on", "off"} {
			if a := x.ask(c, rowSecurity, count); a.code == "" && !strings.HasPrefix(a.said, "0 ") {
				x.Errorf("%s sees rows of %s in %s with row_security %s", c.title, closedName, closed, rowSecurity)
			}
		}
		for _, column := range append(dbtest.Get[[]string](x.db, firstColumns, closed), "r::text") {
			sql := fmt.Sprintf("select 1 from %s r where public.look(%s)", closed, column)
			if a := x.ask(c, "on", sql); barrier.MatchString(a.said) {
				x.Errorf("%s passes a row of %s by %s of %s: %s", c.title, closedName, column, closed, a.said)
			}
		}
	}
	return of
}

// withoutRowSecurity says what a reader hears who switches row security off.
func (x *trial) withoutRowSecurity(relation string) string {
	x.Helper()
	sql := "select count(*) from " + relation
	on, off := x.ask(columns[4], "on", sql), x.ask(columns[4], "off", sql)
	switch {
	case denied(on):
		return "–"
	case off.code == "":
		if off.said != on.said {
			x.Errorf("%s has %s rows, with row_security off %s", relation, on.said, off.said)
		}
		return "the same"
	case strings.HasPrefix(off.said, "query would be affected by row-level security policy"):
		return "refused"
	}
	x.Errorf("%s with row_security off: %v", relation, off)
	return off.code
}

// ofPgmq are pgmq's own functions, which run as who calls them, on a queue of Nexus.
var ofPgmq = []struct{ name, call string }{
	{"read", "pgmq.read({queue}, 0, 1)"},
	{"send", "pgmq.send({queue}, '{\"n\": 1}')"},
	{"delete", "pgmq.delete({queue}, {msg})"},
	{"archive", "pgmq.archive({queue}, {msg})"},
	{"pop", "pgmq.pop({queue})"},
	{"set_vt", "pgmq.set_vt({queue}, {msg}, 0)"},
	{"purge_queue", "pgmq.purge_queue({queue})"},
	{"drop_queue", "pgmq.drop_queue({queue})"},
	{"create", "pgmq.create('everycall')"},
	{"metrics", "pgmq.metrics({queue})"},
	{"list_queues", "pgmq.list_queues()"},
}

func (x *trial) pgmqRights() [][]string {
	x.Helper()
	var table [][]string
	for _, f := range ofPgmq {
		row := []string{"`pgmq." + f.name + "`"}
		for _, c := range columns {
			a := x.ask(c, "on", x.open.Fill("select r::text from "+f.call+" r"))
			switch a.code {
			case "":
				row = append(row, "yes")
			case "42501":
				row = append(row, "")
			default:
				x.Errorf("pgmq.%s as %s: %v", f.name, c.title, a)
				row = append(row, a.code)
			}
			if c.role == "nexus_admin" || c.role == "nexus_scheduler" {
				continue
			}
			hidden := x.ask(c, "on", x.closed.Fill("select r::text from "+f.call+" r"))
			if strings.Contains(hidden.said, `"secret"`) {
				x.Errorf("pgmq.%s shows %s a message of %s: %s", f.name, c.title, closedName, hidden.said)
			}
		}
		table = append(table, row)
	}
	return table
}
