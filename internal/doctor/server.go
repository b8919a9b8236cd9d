package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// server are the checks that need nothing of Nexus.
var server = []probe{
	{name: "connection", why: "everything goes through it", look: lookConnection, decisive: true},
	{name: "server version", why: "Nexus is tested from PostgreSQL 15 on, and a standby takes no writes", look: lookVersion},
	{name: "pgmq", why: "queues are pgmq's, and Nexus uses what came with 1.11", look: lookPgmq},
	// In the order in which they are mended: it can be created where it is preloaded, in the database that it fires in.
	{name: "pg_cron preload", why: "without its library in the server nothing fires", look: lookPreload},
	{name: "pg_cron database", why: "its jobs fire in one database of a server only", look: lookCronDatabase},
	{name: "pg_cron", why: "it drives the upkeep while no node runs", look: lookCron},
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
		return broken(mend{advice("let NEXUS_DATABASE_URL name the primary, or add target_session_attrs=read-write to it")},
			"PostgreSQL %s, a standby: read-only", text), nil
	case number < 150000:
		return broken(mend{advice("upgrade the server to PostgreSQL 15 or newer")}, "PostgreSQL %s", text), nil
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
		return broken(mend{statement("alter extension pgmq update; -- as a superuser")}, "%s is too old, it takes 1.11", e.Installed), nil
	case some:
		return broken(mend{advice("run the update scripts of pgmq up to 1.11")}, "installed from its SQL, and older than 1.11"), nil
	case e.Offered != "":
		return broken(mend{statement("create extension if not exists pgmq; -- as a superuser")}, "not in this database, the server has %s", e.Offered), nil
	}
	return broken(mend{advice("install pgmq on the server"), advice(or + "take pgmq.sql of a release to: nexus-node migrate up --pgmq-sql pgmq.sql")}, "the server does not have it"), nil
}

func lookCron(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	e, err := lookExtension(ctx, pool, "pg_cron", cronProbe)
	return optional(e, "pg_cron", "cron", mend{statement("create extension if not exists pg_cron; -- as a superuser")}), err
}

func lookPartman(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	e, err := lookExtension(ctx, pool, "pg_partman", partmanProbe)
	return optional(e, "pg_partman", "partman", mend{
		statement("create schema if not exists partman; -- as a superuser"), statement("create extension if not exists pg_partman schema partman; -- as a superuser"),
	}), err
}

func optional(e extension, name, debian string, create mend) finding {
	create = append(create, command("nexus-node migrate up # as a superuser"))
	switch {
	case e.Installed != "" && e.Probe:
		return ok("%s", e.Installed)
	case e.Installed != "":
		return broken(append(mend{statement("drop extension %s; -- as a superuser", name)}, create...), "%s, but its functions are not there", e.Installed)
	case e.Offered != "":
		return warn(create, "not in this database, the server has %s", e.Offered)
	}
	return warn(mend{advice("install %s on the server (Debian: postgresql-VERSION-%s)", name, debian)}, "the server does not have it")
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

func unseenSetting(pool *pgxpool.Pool) finding {
	return unknown(mend{statement("grant pg_read_all_settings to %s; -- as a superuser", ident(login(pool)))}, "not visible: it takes pg_read_all_settings")
}

func login(pool *pgxpool.Pool) string { return pool.Config().ConnConfig.User }

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
		return unseenSetting(pool), nil
	case slices.Contains(elements(*libraries), "pg_cron"):
		return ok("shared_preload_libraries = %s", *libraries), nil
	}
	preload, err := alterSystem(ctx, pool, "shared_preload_libraries", literals(append(elements(*libraries), "pg_cron")))
	if err != nil {
		return finding{}, err
	}
	if e.Installed == "" {
		return warn(preload, "pg_cron is neither created nor preloaded"), nil
	}
	return broken(preload, "pg_cron is created, but not preloaded"), nil
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
		return unseenSetting(pool), nil
	case name != nil && *name == here:
		return ok("%s", *name), nil
	}
	fireHere, err := alterSystem(ctx, pool, "cron.database_name", literal(here))
	if err != nil {
		return finding{}, err
	}
	if name == nil {
		return warn(append(mend{advice(`see the check "pg_cron preload"; then:`)}, fireHere...), "cron.database_name is not set"), nil
	}
	return warn(append(fireHere, advice(or+"leave the upkeep to nodes")), "cron.database_name is %s, this database is %s", *name, here), nil
}

// elements are those of a setting that is a list of names, of which some are in double quotes.
func elements(list string) []string {
	var all []string
	var name strings.Builder
	quoted := false
	for _, r := range list + "," {
		switch {
		case r == '"':
			quoted = !quoted
		case r == ',' && !quoted:
			if name.Len() > 0 {
				all = append(all, name.String())
			}
			name.Reset()
		case quoted || !unicode.IsSpace(r):
			name.WriteRune(r)
		}
	}
	return all
}

// literals is a list as ALTER SYSTEM takes it: each name is one literal, and one literal is one name.
func literals(names []string) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = literal(n)
	}
	return strings.Join(all, ", ")
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func ident(s string) string { return pgx.Identifier{s}.Sanitize() }

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
