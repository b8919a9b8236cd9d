package migrate

import (
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	nexussql "github.com/nexuspg/nexus/sql"
)

// step is a piece of SQL and the role that runs it.
type step struct {
	title string // what the report says of it; "" for the small change around a titled step
	file  string // the file that the SQL is, if it is one
	role  string // "" for the installer
	sql   string
}

func (s step) name() string {
	if s.file != "" {
		return s.file
	}
	if s.title != "" {
		return s.title
	}
	first, _, _ := strings.Cut(s.sql, "\n")
	return first
}

// builder collects steps in order.
type builder struct {
	lockTimeout time.Duration
	steps       []step
}

func (b *builder) add(s step) { b.steps = append(b.steps, s) }

// roles comes while the transaction has no limit on waiting for locks: another database's installer that is creating the
// same roles ends at its own pace.
func (b *builder) roles(f nexussql.File) {
	b.add(rolesStep(f))
}

func rolesStep(f nexussql.File) step { return step{title: f.Path, file: f.Path, sql: f.Body} }

// limitLocks bounds how long the steps from here on wait for a lock.
func (b *builder) limitLocks() {
	b.add(step{sql: fmt.Sprintf("set local lock_timeout = %d;\n", b.lockTimeout.Milliseconds())})
}

func (b *builder) pgmqFromSQL(text string) {
	b.add(step{title: "pgmq from its SQL", sql: text})
}

// extensions creates what the query of the inspection finds creatable at that moment, and judges the pgmq there is then.
func (b *builder) extensions(want schema) {
	b.add(step{title: "extensions", sql: createExtensionsSQL(want.extensions)})
}

// rights grants what the query of the inspection finds lacking at that moment.
func (b *builder) rights() {
	b.add(step{title: "rights on the extensions", sql: grantRightsSQL()})
}

func (b *builder) schemas() {
	b.add(step{title: "schemas core and core_private", sql: createSchemasSQL})
}

func (b *builder) bookkeeping() {
	b.add(step{title: bookkeeping.Path, file: bookkeeping.Path, role: owner, sql: bookkeeping.Body})
	b.record(bookkeeping, "function")
}

func (b *builder) migration(f nexussql.File) {
	b.add(step{title: f.Path, file: f.Path, role: owner, sql: f.Body})
	b.add(step{role: owner, sql: fmt.Sprintf("insert into core_private.schema_migrations (version, name, sha256) values (%d, %s, %s);\n",
		f.Version, literal(f.Name()), literal(f.SHA256))})
}

// function applies a function file. One that belongs to another role is applied by that role, which may create in the
// schemas for just that long and hands the use of what it created, and the right to pass it on, to nexus_owner.
func (b *builder) function(f nexussql.File) {
	if f.Owner() == owner {
		b.add(step{title: f.Path, file: f.Path, role: owner, sql: f.Body})
	} else {
		other := quote(f.Owner())
		b.add(step{role: owner, sql: fmt.Sprintf("grant usage, create on schema core, core_private to %s;\n", other)})
		b.add(step{title: f.Path, file: f.Path, role: f.Owner(), sql: f.Body})
		b.add(step{role: f.Owner(), sql: handOverSQL})
		b.add(step{role: owner, sql: fmt.Sprintf("revoke usage, create on schema core, core_private from %s;\n", other)})
	}
	b.record(f, "function")
}

func (b *builder) view(f nexussql.File) {
	b.add(step{title: f.Path, file: f.Path, role: owner, sql: f.Body})
	b.record(f, "view")
}

// grants applies the grants and lets the schema's own code set up what has to run: sweeps, partitions, jobs.
func (b *builder) grants(f nexussql.File) {
	b.add(step{title: f.Path, file: f.Path, role: owner, sql: f.Body})
	b.add(step{role: owner, sql: afterInstallSQL})
	b.record(f, "grants")
}

func (b *builder) record(f nexussql.File, kind string) {
	b.add(step{role: owner, sql: fmt.Sprintf("select core_private.record_installed(%s, %s, %s);\n",
		literal(f.Path), literal(kind), literal(f.SHA256))})
}

// worked reports whether any step so far changes something.
func (b *builder) worked() bool {
	for _, s := range b.steps {
		if s.title != "" {
			return true
		}
	}
	return false
}

// finished is all steps, or none if none of them changes anything.
func (b *builder) finished() []step {
	if !b.worked() {
		return nil
	}
	return b.steps
}

const createSchemasSQL = `do $schemas$
begin
  if to_regnamespace('core') is null then
    create schema core authorization nexus_owner;
  end if;
  if to_regnamespace('core_private') is null then
    create schema core_private authorization nexus_owner;
  end if;
end
$schemas$;
`

const handOverSQL = `do $hand_over$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid
      from pg_proc p
      join pg_namespace n on n.oid = p.pronamespace
     where n.nspname in ('core', 'core_private') and p.proowner = current_user::regrole and p.xmin = pg_current_xact_id()::xid
  loop
    execute format('revoke all on routine %s from public', v_function);
    execute format('grant execute on routine %s to nexus_owner with grant option', v_function);
  end loop;
end
$hand_over$;
`

const afterInstallSQL = `do $after_install$
begin
  if to_regprocedure('core_private.after_install()') is not null then
    perform core_private.after_install();
  end if;
end
$after_install$;
`

func createExtensionsSQL(query string) string {
	return `do $extensions$
declare
  v_extension record;
begin
  for v_extension in
` + indent(query) + `  loop
    if v_extension.creatable then
      execute v_extension.creation;
    elsif v_extension.name = 'pgmq' and not v_extension.present then
      raise exception 'pgmq is missing: %', v_extension.obstacle
        using errcode = 'NX503', hint = 'Install the extension pgmq on the server, or run the SQL file of its release here.';
    end if;
  end loop;
  if not (
` + indent(pgmqFloorSQL) + `  ) then
    raise exception 'pgmq is older than 1.11' using errcode = 'NX503', hint = 'alter extension pgmq update;';
  end if;
end
$extensions$;
`
}

func grantRightsSQL() string {
	return `do $rights$
declare
  v_right record;
begin
  for v_right in
` + indent(rightsSQL) + `  loop
    if v_right.grantable then
      execute v_right.statement;
    elsif v_right.required then
      raise exception '% may not: %', session_user, v_right.statement
        using errcode = 'NX504', hint = v_right.mend;
    end if;
  end loop;
end
$rights$;
`
}

func indent(sql string) string {
	var b strings.Builder
	for line := range strings.Lines(sql) {
		b.WriteString("    " + line)
	}
	return b.String()
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
