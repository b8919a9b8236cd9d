package migrate

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Dump writes the SQL that brings a schema of version from (0: none) to that of this binary, for psql, as one transaction.
// It needs no database, so the script looks for itself: it refuses a database of another version, creates the extensions
// that the server has, and names what is missing. It holds every function and view, since it cannot know which differ.
func Dump(w io.Writer, from int) error { return dump(w, from, embedded()) }

func dump(w io.Writer, from int, want schema) error {
	if from < 0 || from > want.version() {
		return fmt.Errorf("migrate: dump from version %d: this binary has 0 to %d", from, want.version())
	}
	b := builder{lockTimeout: 10 * time.Second}
	b.roles(want.roles)
	b.limitLocks()
	b.add(step{sql: guardSQL(want)})
	b.add(step{sql: grantOwnRightsSQL()})
	b.extensions(want)
	b.rights()
	b.schemas()
	b.bookkeeping()
	b.rememberBrought()
	b.record(want.roles, "roles")
	for _, m := range want.migrations {
		if m.Version > from {
			b.migration(m)
		}
	}
	for _, f := range want.functions {
		b.function(f)
	}
	for _, v := range want.views {
		b.view(v)
	}
	b.dropRetired(want, nil)
	b.grants(want.grants)
	return writeScript(w, fmt.Sprintf("Nexus: schema %d to %d", from, want.version()), from, b.finished())
}

// What session.commit does, in SQL alone.
const (
	keepPath    = "do $$ begin perform pg_catalog.set_config('nexus.search_path', pg_catalog.current_setting('search_path'), true); end $$;\n"
	putPathBack = "do $$ begin perform set_config('search_path', current_setting('nexus.search_path'), false); end $$;\n"
)

// writeScript writes steps as a script that does what running them does.
func writeScript(w io.Writer, title string, from int, steps []step) error {
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s\n\\set ON_ERROR_STOP on\nbegin;\n%s%sselect pg_advisory_xact_lock(%d, %d);\n\n", title, keepPath, settings, lockClass, lockObject)
	fmt.Fprintf(&b, checkVersionSQL, from, leaveUnreleased)
	role := ""
	for _, s := range steps {
		b.WriteByte('\n')
		if s.title != "" {
			fmt.Fprintf(&b, "-- %s\n", s.title)
		}
		if s.role != role {
			b.WriteString(becomeSQL(s.role) + "\n")
			role = s.role
		}
		b.WriteString(strings.TrimRight(s.sql, "\n") + "\n")
	}
	b.WriteString("\n" + becomeSQL("") + "\n" + putPathBack + "commit;\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// checkVersionSQL reads the bookkeeping as its owner, who the installer is or can become once it is there.
const checkVersionSQL = `do $version$
declare
  v_version integer := 0;
begin
  if exists (
    select from pg_class
     where relname = 'schema_migrations' and relnamespace = (select oid from pg_namespace where nspname = 'core_private'))
  then
    if (select relowner from pg_class where oid = to_regclass('core_private.schema_migrations')) = to_regrole('nexus_owner') then
      set local role nexus_owner;
    end if;
    select coalesce(max(version), 0) into v_version from core_private.schema_migrations;
    set local role none;
  end if;
  if v_version > 0 and to_regnamespace('core_node') is null then
    raise exception 'the schema has version %% of before 0.1.0, which nothing upgrades', v_version
      using errcode = 'NX508', hint = $hint$%[2]s$hint$;
  end if;
  if v_version <> %[1]d then
    raise exception 'the schema has version %%, and this script begins at version %[1]d', v_version
      using errcode = case when v_version > %[1]d then 'NX501' else 'NX502' end;
  end if;
end
$version$;
`
