package docgen_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/everycall"
)

// caller is a login of a role, or a role of the machinery, with what it was granted in the restricted namespace.
type caller struct {
	title   string // of its column
	role    string // "" is none
	granted string // a duty in the restricted namespace
	machine bool   // the role itself: nobody else is to be in it
}

// columns are those whose rights are in the tables. The last two may do nothing, and stand in one column while that is so.
var columns = []caller{
	{title: "admin", role: "nexus_admin"}, {title: "operator", role: "nexus_operator"}, {title: "producer", role: "nexus_producer"},
	{title: "consumer", role: "nexus_consumer"}, {title: "reader", role: "nexus_reader"},
	{title: "scheduler", role: "nexus_scheduler", machine: true},
	{title: "sql", role: "nexus_sql", machine: true}, {title: "guard", role: "nexus_guard", machine: true}, {title: "none"},
}

const sharing = 2 // of the columns

var grantees = []caller{
	{title: "operator", role: "nexus_operator", granted: "operate"}, {title: "producer", role: "nexus_producer", granted: "produce"},
	{title: "consumer", role: "nexus_consumer", granted: "consume"}, {title: "reader", role: "nexus_reader", granted: "read"},
}

// trial is a database with an open namespace and a restricted one, and a connection of everybody who tries something.
type trial struct {
	*testing.T
	db                  *dbtest.DB
	open, closed, never everycall.Place
	conns               map[caller]*pgx.Conn
	urls                map[caller]string
}

const openName, closedName, unknownName = "shop", "vault", "mall"

func newTrial(t *testing.T) *trial {
	t.Helper()
	db := dbtest.New(t)
	db.SetNow(db.Now())
	// Ids that are nothing else by chance, so that an answer can be searched for them.
	db.Exec(`do $$ declare s regclass; begin
		for s in select oid from pg_class where relkind = 'S' and relnamespace = 'core'::regnamespace loop
			execute format('alter sequence %s restart 700001', s);
		end loop; end $$`)
	x := &trial{
		T: t, db: db, open: everycall.Make(t, db, openName, false), closed: everycall.Make(t, db, closedName, true),
		never: everycall.Unknown(unknownName), conns: map[caller]*pgx.Conn{}, urls: map[caller]string{},
	}
	db.Exec(`insert into cron.job_run_details (jobid, runid, database, username, command, status, return_message)
		select j.jobid, j.jobid, j.database, j.username, j.command, 'failed', j.jobname from cron.job j where j.jobname ~ '^(shop|vault):'`)
	for _, c := range slices.Concat(columns, grantees) {
		x.urls[c] = db.OwnerURL
		if !c.machine {
			var login string
			login, x.urls[c] = db.As(strings.Fields(c.role)...)
			if c.granted != "" {
				db.Exec("select core.grant_namespace($1, $2, $3)", closedName, login, c.granted)
			}
		}
		conn, err := pgx.Connect(t.Context(), x.urls[c])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		if c.machine {
			// The machinery's roles have no password; this makes the session theirs.
			if _, err := conn.Exec(t.Context(), "set session authorization "+c.role); err != nil {
				t.Fatal(err)
			}
		}
		x.conns[c] = conn
	}
	return x
}

// answer is what a statement gave: the code of its error, or "", and all that it said.
type answer struct{ code, said string }

// ask runs a statement and takes back what it did.
func (x *trial) ask(c caller, rowSecurity, sql string) answer {
	x.Helper()
	tx, err := x.conns[c].Begin(x.Context())
	if err != nil {
		x.Fatalf("%s: %v", c.title, err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(x.Context(), "set local row_security = "+rowSecurity); err != nil {
		x.Fatal(err)
	}
	rows, err := tx.Query(x.Context(), sql, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return x.refused(sql, err)
	}
	said, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		return string(row.RawValues()[0]), nil
	})
	if err != nil {
		return x.refused(sql, err)
	}
	return answer{said: strings.Join(said, "\n")}
}

func (x *trial) refused(sql string, err error) answer {
	x.Helper()
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		x.Fatalf("%s: %v", sql, err)
	}
	return answer{pg.Code, strings.Join([]string{pg.Message, pg.ColumnName, pg.Detail, pg.Hint}, "; ")}
}

// ungranted is a refusal by EXECUTE, which a body that lacks a right of its own does not give.
func ungranted(function string, a answer) bool {
	return a.code == "42501" && (strings.HasPrefix(a.said, "permission denied for function "+function+";") ||
		strings.HasPrefix(a.said, "permission denied for schema core;") || strings.HasPrefix(a.said, "permission denied for schema core_node;"))
}

var ofNexus = regexp.MustCompile("^NX[0-9]{3}$")

// judge fails the test for what must not be said, and returns the cell of the table.
func (x *trial) judge(c caller, r everycall.Routine, p everycall.Place, a answer) string {
	x.Helper()
	switch {
	case ungranted(r.Name, a):
		return ""
	case a.code == r.Refuses:
		return "yes"
	case ofNexus.MatchString(a.code):
		return a.code
	}
	x.Errorf("%s.%s of %s as %s (%s): %s %s; want a code of Nexus", r.Schema, r.Key, p.Name, c.title, c.role, a.code, a.said)
	return a.code
}

func (x *trial) tried(c caller, r everycall.Routine, p everycall.Place) answer {
	x.Helper()
	sql := "select r::text from " + r.Call(p, nil) + " r"
	on, off := x.ask(c, "on", sql), x.ask(c, "off", sql)
	if on.code != off.code || on.code != "" && on.said != off.said {
		x.Errorf("%s.%s of %s as %s answers %v, with row_security off %v", r.Schema, r.Key, p.Name, c.title, on, off)
	}
	return on
}

// functionRights are the rows of the table of functions.
func (x *trial) functionRights() [][]string {
	x.Helper()
	var table [][]string
	for _, r := range everycall.Routines(x, x.db) {
		row := []string{"`" + strings.ReplaceAll(r.Key, "timestamp with time zone", "timestamptz") + "`"}
		for _, c := range columns {
			row = append(row, x.judge(c, r, x.open, x.tried(c, r, x.open)))
		}
		if !slices.Contains(row[1:], "yes") {
			x.Errorf("%s.%s works for nobody: %q", r.Schema, r.Key, row)
		}
		opens := "–"
		if r.By != everycall.Whole {
			opens = x.closedTo(r)
		}
		table = append(table, append(row, opens))
	}
	return table
}

// closedTo says what opens the restricted namespace to a function, and holds that the others learn nothing: what is there by its id
// is to them what is nowhere.
func (x *trial) closedTo(r everycall.Routine) string {
	x.Helper()
	var opened []string
	for _, c := range slices.Concat(grantees, columns) {
		there, nowhere := x.tried(c, r, x.closed), x.tried(c, r, x.never)
		x.judge(c, r, x.closed, there)
		x.judge(c, r, x.never, nowhere)
		there.said, nowhere.said = x.closed.Mask(there.said), x.never.Mask(nowhere.said)
		switch {
		case c.role == "nexus_admin":
			if there.code != r.Refuses {
				x.Errorf("%s.%s of %s as admin: %v", r.Schema, r.Key, closedName, there)
			}
		case there == nowhere, r.By == everycall.ByName && there.code == "NX402":
		case c.granted != "" && there.code == r.Refuses:
			opened = append(opened, c.granted)
		default:
			x.Errorf("%s.%s tells the %s (granted %q) what is in %s: %v, of nothing %v", r.Schema, r.Key, c.title, c.granted, closedName, there, nowhere)
		}
	}
	if opened == nil {
		return "–"
	}
	return strings.Join(opened, ", ")
}

// rightsTable is Markdown. The last two callers share a column while they can do the same.
func rightsTable(first string, callers []caller, rows [][]string, last ...string) string {
	head := []string{first}
	for _, c := range callers {
		head = append(head, c.title)
	}
	end := len(head)
	share := len(callers) == len(columns) && !slices.ContainsFunc(rows, func(r []string) bool {
		return len(slices.Compact(slices.Clone(r[end-sharing:end]))) > 1
	})
	if share {
		head[end-1] = "others"
	}
	head = append(head, last...)
	var b strings.Builder
	for _, cells := range slices.Concat([][]string{head, {strings.Repeat("---|", len(head))}}, rows) {
		if share && len(cells) > 1 {
			cells = slices.Delete(slices.Clone(cells), end-sharing, end-1)
		}
		line := "| " + strings.Join(cells, " | ") + " |"
		if len(cells) == 1 {
			line = "|" + strings.Repeat("---|", strings.Count(b.String(), "|")-1)
		}
		fmt.Fprintln(&b, strings.ReplaceAll(line, "  ", " "))
	}
	return b.String()
}

// behind are the functions of core_private that roles may execute, for the views' sake. No one reaches them but through a view.
func (x *trial) behind() {
	x.Helper()
	for _, f := range dbtest.Get[[]string](x.db, `
		select array_agg(distinct p.oid::regproc::text) from pg_proc p cross join aclexplode(p.proacl) a
		 where p.pronamespace = 'core_private'::regnamespace and a.grantee <> p.proowner and a.grantee <> 'nexus_owner'::regrole`) {
		for _, c := range columns {
			if a := x.ask(c, "on", "select r::text from "+f+"() r"); a.code != "42501" || !strings.HasPrefix(a.said, "permission denied for schema core_private;") {
				x.Errorf("%s calls %s: %v", c.title, f, a)
			}
		}
	}
}

const rightsPage = `# Who may do what

<!-- Generated by ` + "`make docs`" + `: cmd/nexus-node/internal/docgen calls everything here as a login of each role, with row_security on and off. -->

What each role can do, as it was tried. [Security](../explanation/security.md) says who the roles are and what the words mean. A login
that is in several roles may do what any of them may. "others" are nexus_guard and a login without a role.

A cell is "yes" if the call works; empty if the role lacks the right to call it (SQLSTATE 42501); or the code of the refusal
([errors](errors.md)), where a function tells how to get the right.

## Functions

In an open namespace. The last column is for restricted ones: a grant of which duty there, by core.grant_namespace, lets a member of
that duty's role make the call; "–" where the function is about no namespace or is the administrators' alone. Who has no grant is
refused with NX402 where it names the namespace or the queue; to core.create_namespace and require_namespace it is not there. What is addressed by an id of its own is to it as an id that is not there.
An administrator needs no grant.

`

const relationsText = `
## Tables and views

"rows" says which of them readers see, and "row_security off" what becomes of reading after ` + "`set row_security = off`" + `: refused, or the
same rows. Triggers check whoever writes to core.scheduled_tasks. The last three lines are the tables of each queue: its messages, the
dead letters of its namespace, and what was archived by hand.

`

const pgmqText = `
## pgmq's own functions on a queue of Nexus

They run with the rights of who calls them, row by row as above.

`

const verbsText = `
## The command line

As a login of each role, in an open namespace. "nothing": what was named is not there for the caller, exit code 3. Verbs that need no
database that is there (` + "`config`, `version`, `dev`, `demo`, `migrate dump`" + `) are left out, and ` + "`migrate`" + ` needs the installer.

`

// The page of rights is what a trial of everything gives.
// holds: I3-everything (restricted and open, ids that are hidden and that are not there, `row_security` on and off, functions cheaper than the condition that hides rows)
func TestRightsAreAsPublished(t *testing.T) {
	x := newTrial(t)
	x.behind()
	page := rightsPage + rightsTable("function", columns, x.functionRights(), "restricted") +
		relationsText + rightsTable("relation", columns, x.relationRights(), "rows", "row_security off") +
		pgmqText + rightsTable("function", columns, x.pgmqRights()) +
		verbsText + rightsTable("verb", people, x.verbRights())
	if !t.Failed() {
		asCommitted(t, "rights.md", page)
	}
}
