package migrate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexuspg/nexus"
	nexussql "github.com/nexuspg/nexus/sql"
)

// owner is the role that owns all of Nexus but what a file's directive gives to another one.
const owner = "nexus_owner"

// decision is what follows from a state: steps to take, or problems that have to be mended by others first.
type decision struct {
	database  string
	installer string
	report    *Report
	steps     []step
	problems  []problem

	// The installer may not read the bookkeeping, but may make itself a member of its owner and look again.
	blind bool

	first []step // before which it is not known what else there is to do
}

// problem is why the installation cannot go on, with the lines that mend it.
type problem struct {
	code string
	what string
	mend string
}

// failure is err or, without one, the problems in one error.
func (d decision) failure(err error) error {
	if err != nil || len(d.problems) == 0 {
		return err
	}
	failed := &nexus.Error{Op: "migrate", Code: d.problems[0].code}
	var what, mend []string
	for _, p := range d.problems {
		what = append(what, p.what)
		if p.mend != "" && !slices.Contains(mend, p.mend) {
			mend = append(mend, p.mend)
		}
	}
	failed.Message = strings.Join(what, "; ")
	failed.Hint = strings.Join(mend, "\n")
	return failed
}

// blindness is the error of a call that has to read the bookkeeping and cannot.
func (d decision) blindness() error {
	if !d.blind {
		return nil
	}
	return &nexus.Error{
		Op: "migrate", Code: nexus.CodeInstallerRights,
		Message: fmt.Sprintf("%s is no member of %s and cannot see what is installed", d.installer, owner),
		Hint:    fmt.Sprintf("grant %s to %s;", owner, quote(d.installer)),
	}
}

func (tx *session) decide(ctx context.Context, o options, want schema) (decision, error) {
	found, err := tx.inspect(ctx, o, want)
	if err != nil {
		return decision{report: &Report{Want: want.version()}}, err
	}
	d := decision{
		database:  found.Database,
		installer: found.Installer,
		report: &Report{
			Version: found.version(),
			Want:    want.version(),
			Orphans: found.orphans,
			Gone:    found.gone,
			Missing: found.missing(),
		},
	}
	for _, x := range found.drift {
		how := "edited"
		if x.Dropped {
			how = "dropped"
		}
		d.report.Drift = append(d.report.Drift, fmt.Sprintf("%s was %s in the database (%s)", x.Signature, how, x.Path))
	}
	d.report.Unsafe = found.unsafe()
	for _, x := range found.distrusted {
		d.report.Distrusted = append(d.report.Distrusted, x.What+": "+x.Mend)
	}
	d.problems = found.problems(o, want)
	d.blind = found.unreadable && !found.lame()
	d.steps = found.steps(o, want)
	if found.unreadable {
		d.first = []step{rolesStep(want.roles)}
	}
	if found.lame() {
		b := builder{lockTimeout: o.LockTimeout}
		b.limitLocks()
		b.ownRights()
		d.first, d.steps = b.steps, b.steps
	}
	for _, s := range d.steps {
		if s.title != "" {
			d.report.Applied = append(d.report.Applied, s.title)
		}
	}
	return d, nil
}

// missing lists what Nexus can do without.
func (s state) missing() []string {
	var lines []string
	for _, name := range []string{"pg_partman", "pg_cron"} {
		e := s.extension(name)
		if e.Obstacle != nil && !e.Present {
			lines = append(lines, fmt.Sprintf("extension %s: %s; as a superuser: %s;", name, *e.Obstacle, e.Creation))
		}
	}
	for _, r := range s.rights {
		if !r.Required && !r.Grantable {
			lines = append(lines, "right: "+r.Mend)
		}
	}
	return lines
}

// problems lists all that stands in the way, so that one visit to the administrator is enough.
func (s state) problems(o options, want schema) []problem {
	var found []problem
	add := func(code, mend, format string, args ...any) {
		found = append(found, problem{code, fmt.Sprintf(format, args...), mend})
	}
	if s.Standby {
		add("25006", "connect to the primary", "the server is a standby")
		return found
	}
	if s.migrations[1].Name == unreleased {
		add(nexus.CodeSchemaUnreleased, leaveUnreleased, "the schema has version %d of before 0.1.0, which nothing upgrades", s.version())
		return found
	}
	if s.version() > want.version() {
		add(nexus.CodeSchemaNewer, "use a binary at least as new as the one that installed it",
			"the schema has version %d and this binary knows %d", s.version(), want.version())
		return found
	}
	for _, m := range want.migrations {
		if a, ok := s.migrations[m.Version]; ok && a.SHA256 != m.SHA256 {
			add(nexus.CodeMigrationEdited, "undo the change and put it into a new migration",
				"migration %d was applied as %s and its file is another one now", m.Version, a.Name)
		}
	}
	s.guardProblems(add)
	s.extensionProblems(o, add)
	s.rightProblems(add)
	return found
}

type addProblem func(code, mend, format string, args ...any)

func (s state) extensionProblems(o options, add addProblem) {
	pgmq := s.extension("pgmq")
	switch {
	case pgmq.Present && !s.pgmqModern:
		add(nexus.CodeExtension, "alter extension pgmq update;", "pgmq is older than 1.11")
	case !pgmq.Present && !pgmq.Creatable && o.pgmqSQL == "":
		mend := "create extension pgmq;"
		if pgmq.Obstacle != nil && strings.HasPrefix(*pgmq.Obstacle, "the server") {
			mend = "install the extension pgmq on the server, or hand over its SQL file (nexus-node migrate up --pgmq-sql FILE)"
		}
		add(nexus.CodeExtension, mend, "pgmq is missing: %s", *pgmq.Obstacle)
	}
}

func (s state) rightProblems(add addProblem) {
	installer := quote(s.Installer)
	var become []string
	for _, r := range s.roles {
		switch {
		case !r.Exists && !s.CreatesRoles && !s.Superuser:
			add(nexus.CodeInstallerRights, fmt.Sprintf("alter role %s createrole;", installer), "%s cannot create the role %s", s.Installer, r.Name)
		case r.Exists && r.Owns && !r.CanBecome && !r.CanGrant:
			become = append(become, r.Name)
		}
		for _, group := range r.NotMemberOf {
			if g := s.role(group); g.Exists && !g.CanGrant {
				add(nexus.CodeInstallerRights, fmt.Sprintf("grant %s to %s;", group, r.Name), "%s cannot make %s a member of %s", s.Installer, r.Name, group)
			}
		}
	}
	if become != nil {
		line := fmt.Sprintf("grant %s to %s", strings.Join(become, ", "), installer)
		if s.ServerVersion >= 160000 {
			line += " with set true, inherit false"
		}
		add(nexus.CodeInstallerRights, line+";", "%s cannot become %s", s.Installer, strings.Join(become, ", "))
	}
	if !s.HasSchemas && !s.CreatesSchemas {
		add(nexus.CodeInstallerRights, fmt.Sprintf("grant create on database %s to %s;", quote(s.Database), installer),
			"%s cannot create schemas in %s", s.Installer, s.Database)
	}
	for i, schema := range s.ForeignSchemas {
		if s.HasBookkeeping || len(s.distrusted) > 0 {
			break // one that was installed is taken back; whose it is was told before
		}
		name, _, _ := strings.Cut(schema, " ")
		add(nexus.CodeInstallerRights, cmp.Or(s.ForeignRenames[i], fmt.Sprintf("alter schema %s owner to %s;", name, owner)), "the schema %s is not Nexus's", schema)
	}
	for _, r := range s.rights {
		if r.Required && !r.Grantable {
			add(nexus.CodeInstallerRights, r.Mend, "%s may not: %s", s.Installer, r.Statement)
		}
	}
}

// lockers are the files to come that lock tables which nodes use, or views.
func (s state) lockers(o options, want schema) []nexussql.File {
	var files []nexussql.File
	if s.changed(o, bookkeeping) {
		files = append(files, bookkeeping)
	}
	for _, m := range want.migrations {
		if _, ok := s.migrations[m.Version]; !ok {
			files = append(files, m)
		}
	}
	for _, v := range want.views {
		if s.changed(o, v) {
			files = append(files, v)
		}
	}
	return files
}

// steps lists what has to be done, in order.
func (s state) steps(o options, want schema) []step {
	b := builder{lockTimeout: o.LockTimeout}
	if s.needsRoles(want) {
		b.roles(want.roles)
	}
	b.limitLocks()
	for _, d := range s.disowned {
		b.takeBack(d)
	}
	if len(s.robbed) > 0 {
		b.ownRights()
	}
	if s.HasSchemas {
		b.lockTables(s.lockers(o, want))
	}
	create := slices.ContainsFunc(s.extensions, func(e extension) bool { return e.Creatable })
	usePgmqSQL := !s.extension("pgmq").Present && !s.extension("pgmq").Creatable && o.pgmqSQL != ""
	if usePgmqSQL {
		b.pgmqFromSQL(o.pgmqSQL)
	}
	if create || usePgmqSQL {
		b.extensions(want)
	}
	if create || usePgmqSQL || slices.ContainsFunc(s.rights, func(r right) bool { return r.Grantable }) {
		b.rights()
	}
	if !s.HasSchemas {
		b.schemas()
	}
	if s.changed(o, bookkeeping) || !s.HasBookkeeping {
		b.bookkeeping()
	}
	for _, role := range o.Trust {
		if !slices.Contains(s.trusted, role) {
			b.trust(role)
		}
	}
	for _, m := range s.moved {
		b.putBack(m)
	}
	b.rememberBrought()
	if s.changed(o, want.roles) {
		b.record(want.roles, "roles")
	}
	migrated := false
	for _, m := range want.migrations {
		if _, ok := s.migrations[m.Version]; !ok {
			b.migration(m)
			migrated = true
		}
	}
	for _, f := range want.functions {
		// Rights on what belongs to another role are that role's to give.
		if migrated || s.changed(o, f) || f.Owner() != owner && (s.grantsMove || len(s.disowned) > 0) {
			b.function(f)
		}
	}
	for _, v := range want.views {
		if migrated || s.changed(o, v) {
			b.view(v)
		}
	}
	if b.worked() || len(s.retired) > 0 {
		b.dropRetired(want, s.retired)
	}
	if b.worked() || s.grantsMove || s.changed(o, want.grants) {
		b.grants(want.grants)
	} else if s.workJobOff {
		b.add(step{title: "the job nexus:work of pg_cron", sql: workJobSQL})
	}
	return b.finished()
}

// needsRoles reports whether the file of roles has something to do.
func (s state) needsRoles(want schema) bool {
	if a, ok := s.objects[want.roles.Path]; s.objects != nil && (!ok || a.SHA256 != want.roles.SHA256) {
		return true
	}
	return slices.ContainsFunc(s.roles, func(r role) bool {
		return !r.Exists || (r.Owns && !r.CanBecome) || len(r.NotMemberOf) > 0
	})
}

// changed reports whether a file has to be applied: it is new or another one, its object was dropped, or another major
// version of the server would print it otherwise, which would look like drift.
func (s state) changed(o options, f nexussql.File) bool {
	a, ok := s.objects[f.Path]
	return o.Repair || !ok || a.SHA256 != f.SHA256 || a.ServerMajor != s.ServerVersion/10000 ||
		slices.ContainsFunc(s.drift, func(d drifted) bool { return d.Path == f.Path && d.Dropped })
}
