package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// server are the checks that need nothing of Nexus.
var server = []probe{
	{name: "connection", why: "everything goes through it", look: lookConnection, decisive: true},
	{name: "server version", why: "Nexus is tested from PostgreSQL 15 on, and a standby takes no writes", look: lookVersion},
	{name: "pgmq", why: "queues are pgmq's, and Nexus uses what came with 1.11", look: lookPgmq},
	{name: "pg_cron", why: "it drives the upkeep while no node runs", look: lookCron},
	{name: "pg_cron preload", why: "without its library in the server nothing fires", look: lookPreload},
	{name: "pg_cron database", why: "its jobs fire in one database of a server only", look: lookCronDatabase},
	{name: "pg_partman", why: "it keeps the event log's partitions; without it Nexus makes them itself", look: lookPartman},
}

func lookConnection(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	begin := time.Now()
	var login, role, database string
	err := pool.QueryRow(ctx, `select session_user, current_user, pg_catalog.current_database()`).Scan(&login, &role, &database)
	if err != nil {
		return finding{}, err
	}
	who := login
	if role != login {
		who += " as " + role
	}
	return ok("%s in database %s, answered in %s", who, database, time.Since(begin).Round(100*time.Microsecond)), nil
}

func lookVersion(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	var (
		number  int
		text    string
		standby bool
	)
	err := pool.QueryRow(ctx, `select pg_catalog.current_setting('server_version_num')::int, pg_catalog.current_setting('server_version'),
		pg_catalog.pg_is_in_recovery()`).Scan(&number, &text, &standby)
	switch {
	case err != nil:
		return finding{}, err
	case standby:
		return broken("let NEXUS_DATABASE_URL name the primary, or add target_session_attrs=read-write to it",
			"PostgreSQL %s, a standby: read-only", text), nil
	case number < 150000:
		return broken("upgrade the server to PostgreSQL 15 or newer", "PostgreSQL %s", text), nil
	}
	return ok("PostgreSQL %s", text), nil
}

// extension is what the catalogs say of one.
type extension struct {
	Installed string // version; "" if it is not in this database
	Offered   string // version that CREATE EXTENSION would give; "" if the server has none
	Probe     bool   // the objects that Nexus uses are there
}

func lookExtension(ctx context.Context, pool *pgxpool.Pool, name, probe string) (e extension, err error) {
	err = pool.QueryRow(ctx, `select coalesce((select x.extversion from pg_catalog.pg_extension x where x.extname = $1::text), ''),
		coalesce((select a.default_version from pg_catalog.pg_available_extensions a where a.name = $1::text), ''),
		(`+probe+`)`, name).Scan(&e.Installed, &e.Offered, &e.Probe)
	return e, err
}

// The probes look for objects, since installed versions get patched in place and pgmq may be installed from its SQL alone.
const (
	pgmqProbe = `select exists (
			select from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
			 where n.nspname = 'pgmq' and p.proname = 'send_topic')
		and exists (
			select from pg_catalog.pg_attribute a
			  join pg_catalog.pg_class c on c.oid = a.attrelid
			  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
			 where n.nspname = 'pgmq' and c.relname = 'message_record' and a.attname = 'last_read_at' and not a.attisdropped)`
	cronProbe = `select exists (
			select from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
			 where n.nspname = 'cron' and p.proname = 'schedule')`
	partmanProbe = `select exists (
			select from pg_catalog.pg_extension x join pg_catalog.pg_proc p on p.pronamespace = x.extnamespace
			 where x.extname = 'pg_partman' and p.proname = 'run_maintenance')`
	anyPgmq = `select exists (select from pg_catalog.pg_namespace where nspname = 'pgmq')`
)

func lookPgmq(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	e, err := lookExtension(ctx, pool, "pgmq", pgmqProbe)
	if err != nil {
		return finding{}, err
	}
	if e.Probe {
		if e.Installed == "" {
			return ok("installed from its SQL, 1.11 or newer"), nil
		}
		return ok("%s", e.Installed), nil
	}
	var some bool
	if err := pool.QueryRow(ctx, anyPgmq).Scan(&some); err != nil {
		return finding{}, err
	}
	switch {
	case some && e.Installed != "":
		return broken("alter extension pgmq update;", "%s is too old, it takes 1.11", e.Installed), nil
	case some:
		return broken("run the update scripts of pgmq up to 1.11", "installed from its SQL, and older than 1.11"), nil
	case e.Offered != "":
		return broken("create extension pgmq;", "not in this database, the server has %s", e.Offered), nil
	}
	return broken("install pgmq on the server, or: nexus-node migrate up --pgmq-sql pgmq.sql", "the server does not have it"), nil
}

func lookCron(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	e, err := lookExtension(ctx, pool, "pg_cron", cronProbe)
	return optional(e, "pg_cron", "create extension pg_cron;", "install pg_cron on the server (Debian: postgresql-15-cron)"), err
}

func lookPartman(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	e, err := lookExtension(ctx, pool, "pg_partman", partmanProbe)
	return optional(e, "pg_partman", "create schema if not exists partman; create extension pg_partman schema partman;",
		"install pg_partman on the server (Debian: postgresql-15-partman)"), err
}

func optional(e extension, name, create, install string) finding {
	switch {
	case e.Installed != "" && e.Probe:
		return ok("%s", e.Installed)
	case e.Installed != "":
		return broken("drop extension "+name+"; "+create, "%s, but its functions are not there", e.Installed)
	case e.Offered != "":
		return warn(create+" -- then: nexus-node migrate up", "not in this database, the server has %s", e.Offered)
	}
	return warn(install, "the server does not have it")
}

// setting reads one that only privileged roles see; nil is not visible, or not there.
func setting(ctx context.Context, pool *pgxpool.Pool, name string) (*string, error) {
	var value *string
	err := pool.QueryRow(ctx, `select (select s.setting from pg_catalog.pg_settings s where s.name = $1::text)`, name).Scan(&value)
	return value, err
}

// seesSettings tells a setting that does not exist from one that this login may not see.
const seesSettings = `select r.rolsuper or pg_catalog.pg_has_role(current_user, 'pg_read_all_settings', 'member')
	from pg_catalog.pg_roles r where r.rolname = current_user`

func lookPreload(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	e, err := lookExtension(ctx, pool, "pg_cron", cronProbe)
	if err != nil {
		return finding{}, err
	}
	libraries, err := setting(ctx, pool, "shared_preload_libraries")
	if err != nil {
		return finding{}, err
	}
	switch {
	case libraries == nil:
		return ok("not visible to this login, which lacks pg_read_all_settings"), nil
	case hasWord(*libraries, "pg_cron"):
		return ok("shared_preload_libraries = %s", *libraries), nil
	case e.Installed == "":
		return warn("alter system set shared_preload_libraries = "+literal(join(*libraries, "pg_cron"))+"; -- then restart the server",
			"pg_cron is neither created nor preloaded"), nil
	}
	return broken("alter system set shared_preload_libraries = "+literal(join(*libraries, "pg_cron"))+"; -- then restart the server",
		"pg_cron is created, but not preloaded"), nil
}

func lookCronDatabase(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	name, err := setting(ctx, pool, "cron.database_name")
	if err != nil {
		return finding{}, err
	}
	var (
		here string
		sees bool
	)
	if err := pool.QueryRow(ctx, `select pg_catalog.current_database(), (`+seesSettings+`)`).Scan(&here, &sees); err != nil {
		return finding{}, err
	}
	switch {
	case name == nil && !sees:
		return ok("not visible to this login, which lacks pg_read_all_settings"), nil
	case name == nil:
		return warn("preload pg_cron, see above", "cron.database_name is not set"), nil
	case *name != here:
		return warn("alter system set cron.database_name = "+literal(here)+"; -- then restart the server; or leave the upkeep to nodes",
			"cron.database_name is %s, this database is %s", *name, here), nil
	}
	return ok("%s", *name), nil
}

func hasWord(list, word string) bool {
	for _, w := range strings.Split(list, ",") {
		if strings.Trim(w, ` "`) == word {
			return true
		}
	}
	return false
}

func join(list, word string) string {
	if strings.TrimSpace(list) == "" {
		return word
	}
	return list + "," + word
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func ident(s string) string { return pgx.Identifier{s}.Sanitize() }

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
