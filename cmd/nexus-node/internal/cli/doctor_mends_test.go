package cli

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/doctor"
	"github.com/nexuspg/nexus/internal/pgdev"
	"github.com/nexuspg/nexus/migrate"
)

// What the doctor prints is run, as it stands, on a server or a database that is broken as it says; then all is well that was before.
// Every form of line that its checks can print has to be among what was run (see TestEveryMendIsRun at the end).

// patient is what a row breaks.
type patient struct {
	t       *testing.T
	url     string         // of the superuser, who runs what is printed
	looks   string         // of the login that asks the doctor, if it is another
	cluster *pgdev.Cluster // nil where the server is shared and cannot be restarted
	db      *dbtest.DB     // nil where the database is no clone
	env     []string       // of commands
}

// harm is one way to break it.
type harm struct {
	name  string
	check string // that has to say so
	found string // a part of what it has to say
	sql   string
	do    func(*patient)              // in place of sql, or after it
	other bool                        // run the ways that begin with "or:"
	only  bool                        // the other checks are about something else that is wrong here
	all   bool                        // nothing was well before, and all has to be after
	hand  map[string]func(p *patient) // what people do, by the beginning of the line
	slow  bool                        // it waits for pg_cron, which fires each minute
}

const orWay = "or: "

// ran are the lines that mended something.
type ran struct{ lines []string }

func (h *harm) cure(p *patient, r *ran) {
	p.t.Helper()
	before := p.examine()
	well := map[string]bool{}
	for _, c := range before {
		well[c.Name] = c.State == doctor.OK
	}
	if h.sql != "" {
		p.exec(h.sql)
	}
	if h.do != nil {
		h.do(p)
	}
	var sick []doctor.Check
	for deadline := time.Now().Add(2 * time.Minute); ; {
		sick = p.examine()
		if c := checkOf(p.t, sick, h.check); c.State != doctor.OK && strings.Contains(c.Found, h.found) {
			break
		} else if !h.slow || time.Now().After(deadline) {
			p.t.Fatalf("%s does not say %q, but %+v", h.check, h.found, c)
		}
		<-time.After(100 * time.Millisecond)
	}
	// What is mended may lay bare what could not be seen before.
	for range rounds {
		for _, c := range sick {
			if c.State != doctor.OK && h.concerns(c.Name, well) {
				h.mend(p, c, r)
			}
		}
		if sick = p.examine(); len(h.bad(sick, well)) == 0 && len(sick) >= len(before) {
			return
		}
		if h.slow {
			break
		}
	}
	for deadline := time.Now().Add(3 * time.Minute); ; sick = p.examine() {
		bad := h.bad(sick, well)
		if len(bad) == 0 && len(sick) >= len(before) {
			return
		}
		if !h.slow || time.Now().After(deadline) {
			p.t.Fatalf("after all lines there is still %+v", bad)
		}
		for _, c := range bad { // the upkeep that was run by hand has grown old meanwhile
			if c.Name == "tick" {
				h.mend(p, c, r)
			}
		}
		<-time.After(100 * time.Millisecond)
	}
}

const rounds = 3

// mend does what a check says.
func (h *harm) mend(p *patient, c doctor.Check, r *ran) {
	p.t.Helper()
	if c.Mend == "" {
		p.t.Errorf("%+v says no way to mend it", c)
	}
	for line := range strings.Lines(c.Mend) {
		rest, other := strings.CutPrefix(strings.TrimSuffix(line, "\n"), orWay)
		if isRun(rest) && other != (h.other && c.Name == h.check) || !isRun(rest) && other && !h.other {
			continue
		}
		if p.follow(h, rest) {
			r.lines = append(r.lines, rest)
		}
	}
}

// bad are the checks that are not as they were before the harm, or as they have to be.
func (h *harm) bad(checks []doctor.Check, well map[string]bool) []doctor.Check {
	return slices.DeleteFunc(slices.Clone(checks), func(c doctor.Check) bool { return c.State == doctor.OK || !h.concerns(c.Name, well) })
}

// concerns tells what the row is about: its check, and what was well before. Who asks is a superuser, and that is a row of its own.
func (h *harm) concerns(check string, well map[string]bool) bool {
	switch {
	case check == h.check:
		return true
	case h.only:
		return false
	}
	return well[check] || h.all && check != "privileges"
}

func isSQL(line string) bool { return strings.HasSuffix(line, ";") || strings.Contains(line, "; -- ") }

func isCommand(line string) bool { return strings.HasPrefix(line, "nexus-node ") }

func isRun(line string) bool { return isSQL(line) || isCommand(line) || line == "restart the server" }

// follow does what a line says, and reports whether it was run as it stands.
func (p *patient) follow(h *harm, line string) bool {
	p.t.Helper()
	p.t.Log("run:", line)
	switch {
	case isSQL(line):
		p.execAs(p.named(line), line)
		return true
	case isCommand(line):
		cmd := exec.CommandContext(p.t.Context(), "sh", "-c", line)
		cmd.Env = slices.Concat([]string{"PATH=" + nodeOnPath(p.t) + ":/usr/bin:/bin", "NEXUS_DATABASE_URL=" + p.named(line), asProcess + "=1"}, p.env)
		if out, err := cmd.CombinedOutput(); err != nil {
			p.t.Fatalf("%s: %v\n%s", line, err, out)
		}
		return true
	case line == "restart the server":
		if p.cluster == nil {
			p.t.Fatalf("%s: it is shared", line)
		}
		if err := p.cluster.Restart(p.t.Context(), nil); err != nil {
			p.t.Fatal(err)
		}
		return false
	}
	for begin, do := range h.hand {
		if strings.HasPrefix(line, begin) {
			do(p)
		}
	}
	return false
}

// nodeOnPath is a folder in which this test's own binary is called nexus-node.
func nodeOnPath(t *testing.T) string {
	t.Helper()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "nexus-node")); err != nil {
		t.Fatal(err)
	}
	return dir
}

var memberOf = regexp.MustCompile(`(?:--|#) as a member of (\w+)`)

// named is the URL of a login that is what the remark says, and no more; of the superuser where it names one.
func (p *patient) named(line string) string {
	p.t.Helper()
	role := memberOf.FindStringSubmatch(line)
	switch {
	case role == nil:
		return p.url
	case p.db != nil:
		_, login := p.db.As(role[1])
		return login
	}
	login := "only_" + role[1]
	p.exec("do $$ begin if to_regrole('" + login + "') is null then create role " + login + " login password 'nexus' in role " + role[1] + "; end if; end $$")
	return as(p.url, login)
}

// examine asks the doctor as somebody at a shell would.
func (p *patient) examine() []doctor.Check {
	p.t.Helper()
	s := newShell(p.t)
	s.cfg.DatabaseURL = p.url
	if p.looks != "" {
		s.cfg.DatabaseURL = p.looks
	}
	r := s.run("doctor", "-o", "json")
	var checks []doctor.Check
	if err := json.Unmarshal([]byte(r.out), &checks); err != nil {
		p.t.Fatalf("doctor: exit code %d, %v\n%s%s", r.code, err, r.out, r.errors)
	}
	return checks
}

func checkOf(t *testing.T, checks []doctor.Check, name string) doctor.Check {
	t.Helper()
	i := slices.IndexFunc(checks, func(c doctor.Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("there is no check %q among %v", name, checks)
	}
	return checks[i]
}

// exec runs SQL on a connection of its own, as psql would: a line at a time, outside of a transaction.
func (p *patient) exec(sql string) {
	p.t.Helper()
	p.execAs(p.url, sql)
}

func (p *patient) execAs(login, sql string) {
	p.t.Helper()
	ctx := context.WithoutCancel(p.t.Context())
	conn, err := pgx.Connect(ctx, login)
	if err != nil {
		p.t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		p.t.Fatalf("%s: %v", sql, err)
	}
}

func (p *patient) get(sql string) string {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), p.url)
	if err != nil {
		p.t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(p.t.Context()))
	var v string
	if err := conn.QueryRow(p.t.Context(), sql).Scan(&v); err != nil {
		p.t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// session holds something open until the test ends or somebody ends it.
func (p *patient) session(sql string) {
	p.t.Helper()
	p.sessionAs(p.url, sql)
}

func (p *patient) sessionAs(login, sql string) {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), login)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(p.t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		p.t.Fatalf("%s: %v", sql, err)
	}
}

// wellServer is a server of the test's own, with Nexus where pg_cron fires, of which the doctor has nothing to say but that it is asked
// by a superuser.
func wellServer(t *testing.T, settings map[string]string) *patient {
	t.Helper()
	cluster := dbtest.Cluster(t, pgdev.Options{Settings: settings}, nil)
	p := &patient{t: t, url: cluster.URL(pgdev.TestCronDatabase), cluster: cluster}
	p.install()
	p.exec("select core.tick()")
	for _, c := range p.examine() {
		if c.State != doctor.OK && c.Name != "privileges" {
			t.Fatalf("before anything is wrong: %+v", c)
		}
	}
	return p
}

func (p *patient) install() {
	p.t.Helper()
	pool, err := pgxpool.New(p.t.Context(), p.url)
	if err != nil {
		p.t.Fatal(err)
	}
	defer pool.Close()
	if _, err := migrate.Up(p.t.Context(), pool, nil); err != nil {
		p.t.Fatal(err)
	}
}

func (p *patient) restart(settings map[string]string) {
	p.t.Helper()
	if err := p.cluster.Restart(context.WithoutCancel(p.t.Context()), settings); err != nil {
		p.t.Fatal(err)
	}
}

// holds: doctor-mends
func TestEveryMendIsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("breaks databases and servers, which takes a minute: not with -short")
	}
	long := os.Getenv("NEXUS_TEST_LONG") != ""
	var r ran
	rows := 0
	all := true
	run := func(h harm, p func(t *testing.T) *patient) {
		// All take three minutes. Each third of them has cures of a database and of a server.
		if rows++; !long && rows%3 != 0 {
			all = false
			return
		}
		all = t.Run(h.check+" "+h.name, func(t *testing.T) {
			here := p(t)
			here.t = t
			h.cure(here, &r)
		}) && all
	}
	for _, h := range databases {
		run(h, func(t *testing.T) *patient {
			t.Helper()
			db := dbtest.New(t)
			db.Exec("select core.tick()")
			return &patient{t: t, url: db.OwnerURL, db: db}
		})
	}
	server := wellServer(t, map[string]string{"max_prepared_transactions": "5", "wal_level": "logical"})
	for _, h := range servers {
		run(h, func(*testing.T) *patient { p := *server; return &p })
	}
	if !all || len(r.lines) == 0 || t.Failed() {
		return
	}
	t.Run("every line", func(t *testing.T) { everyLine(t, r.lines) })
}

// What keeps pg_cron from starting its jobs is seen, and seen to be over, when it starts them: each minute.
// holds: doctor-mends (50 ways to break a database or a server, each mended by exactly the lines that are printed)
func TestMendsThatPgCronHasToShow(t *testing.T) {
	t.Parallel()
	if os.Getenv("NEXUS_TEST_LONG") == "" {
		t.Skip("needs pg_cron to start its jobs several times, which it does each minute: make test-long sets NEXUS_TEST_LONG")
	}
	for _, h := range starts {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			h.cure(wellServer(t, nil), &ran{})
		})
	}
}

// everyLine looks for a line that was run in the form of each that the checks can print.
func everyLine(t *testing.T, lines []string) {
	t.Helper()
	forms := 0
	files, err := filepath.Glob("../../../../internal/doctor/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is {
				return true
			}
			f, is := call.Fun.(*ast.Ident)
			if !is || f.Name != "statement" && f.Name != "command" {
				return true
			}
			text, is := call.Args[0].(*ast.BasicLit)
			if !is {
				t.Errorf("%s: the form of a line is written out, so that it can be told apart", fset.Position(n.Pos()))
				return true
			}
			form, err := strconv.Unquote(text.Value)
			if err != nil {
				t.Fatal(err)
			}
			forms++
			pattern := regexp.MustCompile("^" + verb.ReplaceAllString(regexp.QuoteMeta(form), ".+") + "$")
			if !slices.ContainsFunc(lines, pattern.MatchString) {
				t.Errorf("%s: no row has run a line of the form\n%s", fset.Position(n.Pos()), form)
			}
			return true
		})
	}
	if forms < 20 {
		t.Errorf("only %d forms were found", forms)
	}
}

var verb = regexp.MustCompile(`%[sd]`)
