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
	b.add(step{title: "schemas core, core_node and core_private", sql: createSchemasSQL})
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
		b.add(step{role: owner, sql: fmt.Sprintf("grant usage, create on schema core, core_node, core_private to %s;\n", other)})
		b.add(step{title: f.Path, file: f.Path, role: f.Owner(), sql: f.Body})
		b.add(step{role: f.Owner(), sql: handOverSQL})
		b.add(step{role: owner, sql: fmt.Sprintf("revoke usage, create on schema core, core_node, core_private from %s;\n", other)})
	}
	b.record(f, "function")
}

func (b *builder) view(f nexussql.File) {
	b.add(step{title: f.Path, file: f.Path, role: owner, sql: f.Body})
	b.record(f, "view")
}

// takeBack gives an object to the role that it should belong to.
func (b *builder) takeBack(d disowned) {
	_, name, _ := strings.Cut(d.Object, " ")
	b.add(step{title: fmt.Sprintf("%s to %s", d.Object, d.Wanted), sql: d.Statement + fmt.Sprintf(`
select set_config('nexus_installer.taken_back',
  (coalesce(nullif(current_setting('nexus_installer.taken_back', true), ''), '{}')::text[] || %s::text)::text, true);
`, literal(name))})
}

// ownRights gives the owners what the query of the inspection finds that they lack at that moment.
func (b *builder) ownRights() {
	b.add(step{title: "put back: rights of the owners on what is theirs", sql: grantOwnRightsSQL()})
}

// putBack undoes what somebody changed; rights are put back by the file of grants.
func (b *builder) putBack(m moved) {
	if m.Restore != "" {
		b.add(step{title: "put back: " + m.What, role: owner, sql: m.Restore + "\n"})
	}
}

// trust notes a role that the installer was told to trust.
func (b *builder) trust(role string) {
	b.add(step{title: "trust " + role, role: owner,
		sql: fmt.Sprintf("insert into core_private.trusted_roles (role) values (%s) on conflict do nothing;\n", literal(role))})
}

// rememberBrought notes what the files of before created, since recording those of now forgets it.
func (b *builder) rememberBrought() {
	b.add(step{role: owner, sql: `select set_config('nexus_installer.brought', coalesce((
  select array_agg(s.signature)::text from core_private.installed_objects o cross join unnest(o.signatures) s (signature)), '{}'), true);
`})
}

// dropRetired drops what no file creates any more; retired are the names of it, as far as they are known by now.
func (b *builder) dropRetired(want schema, retired []string) {
	title := ""
	if len(retired) > 0 {
		title = "drop " + strings.Join(retired, ", ")
	}
	b.add(step{title: title, role: owner, sql: dropRetiredSQL(want)})
}

// grants applies the grants and lets the schema's own code set up what has to run: sweeps, partitions, jobs.
func (b *builder) grants(f nexussql.File) {
	b.add(step{title: f.Path, file: f.Path, role: owner, sql: f.Body})
	b.add(step{role: owner, sql: afterInstallSQL})
	b.add(step{role: owner, sql: "select core_private.record_guard();\n"})
	b.record(f, "grants")
	b.add(step{sql: workJobSQL})
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

func dropRetiredSQL(want schema) string {
	return fmt.Sprintf("select core_private.drop_retired(%s, current_setting('nexus_installer.brought')::text[]);\n", array(want.paths()))
}

func array(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = literal(t)
	}
	return "array[" + strings.Join(quoted, ", ") + "]::text[]"
}

// guardSQL refuses what is not trusted and takes back what was given away, in a script that cannot see the database.
func guardSQL(want schema) string {
	names, owners := want.owned()
	return `do $guard$
declare
  v_found record;
  v_trusted text[] := '{}';
  v_queues text[] := '{}';
begin
  -- Read as its owner, or as a superuser where it has another: that runs nothing.
  if not (select r.rolsuper from pg_roles r where r.rolname = session_user)
     and (select c.relowner from pg_class c where c.oid = to_regclass('core_private.schema_migrations')) = to_regrole('nexus_owner')
  then
    set local role nexus_owner;
  end if;
  for v_found in
    select c.oid::regclass as name, c.relname
      from pg_class c
     where c.oid in (to_regclass('core_private.trusted_roles'), to_regclass('core_private.schema_migrations'), to_regclass('core.queues'))
       and c.relkind = 'r' and has_table_privilege(c.oid, 'select')
  loop
    case v_found.relname
      when 'trusted_roles' then
        execute 'select $1 || array(select role from core_private.trusted_roles)' into v_trusted using v_trusted;
      when 'schema_migrations' then
        execute 'select $1 || array(select applied_by from core_private.schema_migrations)' into v_trusted using v_trusted;
      else
        execute 'select array(select queue_name from core.queues)' into v_queues;
    end case;
  end loop;
  set local role none;
  select string_agg(f.what, '; ') as what, string_agg(f.mend, E'\n') as mend into v_found
    from (
` + indent(trustQuery("v_trusted")) + `    ) f;
  if v_found.what is not null then
    raise exception using errcode = 'NX507', message = v_found.what, hint = v_found.mend;
  end if;
  for v_found in
` + indent(ownersQuery(array(names), array(owners), "v_queues")) + `  loop
    execute v_found.statement;
    perform set_config('nexus_installer.taken_back',
      (coalesce(nullif(current_setting('nexus_installer.taken_back', true), ''), '{}')::text[]
       || substr(v_found.object, strpos(v_found.object, ' ') + 1))::text, true);
  end loop;
end
$guard$;
`
}

const createSchemasSQL = `do $schemas$
begin
  if to_regnamespace('core') is null then
    create schema core authorization nexus_owner;
  end if;
  if to_regnamespace('core_node') is null then
    create schema core_node authorization nexus_owner;
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
     where n.nspname in ('core', 'core_node', 'core_private') and p.proowner = current_user::regrole and p.xmin = pg_current_xact_id()::xid
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

// workJobFitsSQL tells whether the job is there as it should be.
const workJobFitsSQL = `exists (
      select from cron.job j
       where j.jobname = 'nexus:work' and j.username = 'nexus_sql' and j.database = current_database() and j.active
         and j.schedule = '* * * * *' and j.command = 'call core.work_all()')`

// workJobSQL has pg_cron run the SQL handlers. nexus_sql may not use pg_cron itself, lest what handlers leave in its sessions do so too, and
// only a superuser may make a job for another role: where none installs, the doctor has the line.
const workJobSQL = `do $work_job$
begin
  if not (select r.rolsuper from pg_roles r where r.rolname = session_user)
     or not exists (select from pg_extension where extname = 'pg_cron')
  then
    return;
  end if;
  -- The longest that one run holds up the others. A node says itself how long its calls may take.
  if not exists (
      select from pg_db_role_setting s
        join pg_roles r on r.oid = s.setrole and r.rolname = 'nexus_sql'
        join pg_database d on d.oid = s.setdatabase and d.datname = current_database()
       where exists (select from unnest(s.setconfig) c where c like 'statement_timeout=%'))
  then
    execute format('alter role nexus_sql in database %I set statement_timeout = ''5 min''', current_database());
  end if;
  if not ` + workJobFitsSQL + `
  then
    -- To schedule one anew leaves it in its database.
    perform cron.unschedule(j.jobid) from cron.job j where j.jobname = 'nexus:work' and j.username = 'nexus_sql';
    perform cron.schedule_in_database('nexus:work', '* * * * *', 'call core.work_all()', current_database(), 'nexus_sql');
  end if;
end
$work_job$;
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

// grantOwnRightsSQL gives them as a superuser does, or as the owner itself. What another role owns in core_private it can name only
// while it may use the schema.
func grantOwnRightsSQL() string {
	return `do $own_rights$
declare
  v_robbed record;
  v_super boolean := (select r.rolsuper from pg_roles r where r.rolname = session_user);
begin
  for v_robbed in
` + indent(ownRightsSQL) + `  loop
    -- It writes the function's row anew, which no file has created for that.
    perform set_config('nexus_installer.taken_back',
      (coalesce(nullif(current_setting('nexus_installer.taken_back', true), ''), '{}')::text[]
       || substr(v_robbed.object, strpos(v_robbed.object, ' ') + 1))::text, true);
    if v_super then
      execute v_robbed.statement;
      continue;
    end if;
    set local role nexus_owner;
    if v_robbed.owner <> 'nexus_owner' then
      execute format('grant usage on schema core, core_node, core_private to %I', v_robbed.owner);
      execute format('set local role %I', v_robbed.owner);
    end if;
    execute v_robbed.statement;
    if v_robbed.owner <> 'nexus_owner' then
      set local role nexus_owner;
      execute format('revoke usage on schema core_node, core_private from %I', v_robbed.owner);
    end if;
    set local role none;
  end loop;
end
$own_rights$;
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
