package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/migrate"
)

// schema are the checks of what is installed.
var schema = []probe{
	{name: "privileges", why: "a node takes nexus_consumer and nexus_producer, and nothing takes a superuser at run time", look: lookPrivileges},
	{name: "schema", why: "this program's calls fit one version of the schema, and what was edited by hand stays until a migration or --repair writes it anew", look: lookSchema, decisive: true},
}

func lookSchema(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	r, err := migrate.Status(ctx, pool)
	if e, is := errors.AsType[*nexus.Error](err); is && (e.Code == nexus.CodeInstallerRights || errors.Is(err, nexus.ErrForbidden)) {
		return unseenSchema(ctx, pool, r)
	}
	if err != nil {
		return finding{}, err
	}
	up := command("nexus-node migrate up # as who installed Nexus, or a superuser")
	switch {
	case r.Version == 0 && len(r.Distrusted)+len(r.Unsafe) == 0:
		return broken(mend{up}, "not installed"), nil
	case r.Version < r.Want && (r.Version > 0 || len(r.Unsafe) == 0):
		return broken(mend{up}, "version %d, this program brings %d", r.Version, r.Want), nil
	case r.Version > r.Want:
		return broken(mend{advice("run a newer nexus-node")}, "version %d is newer than this program, which knows %d", r.Version, r.Want), nil
	case len(r.Distrusted) > 0:
		var whats []string
		var lines mend
		for _, d := range r.Distrusted {
			what, line, _ := strings.Cut(d, ": ")
			whats, lines = append(whats, what), append(lines, line)
		}
		found := fmt.Sprintf("version %d; not to be trusted: %s", r.Version, some(whats))
		if len(r.Unsafe) > 0 {
			found += "; not as installed: " + some(r.Unsafe)
		}
		if len(r.Drift) > 0 {
			found += "; edited by hand: " + some(r.Drift)
			up = command("nexus-node migrate up --repair # as who installed Nexus, or a superuser")
		}
		return broken(append(lines, up), "%s", found), nil
	case len(r.Gone) > 0:
		f := broken(mend{
			advice("restore what was dropped from a backup of this version: pg_restore --table, as a superuser"), advice("then, for what hung on it, once more: nexus-node migrate up --repair # as who installed Nexus, or a superuser"),
		}, "version %d; dropped: %s", r.Version, some(r.Gone))
		f.goOn = true
		return f, nil
	case len(r.Unsafe) > 0:
		f := broken(mend{command("nexus-node migrate up # as who installed Nexus, or as a superuser if owners are named")}, "version %d; not as installed: %s", r.Version, some(r.Unsafe))
		f.goOn = true
		return f, nil
	case len(r.Drift) > 0:
		f := warn(mend{command("nexus-node migrate up --repair # as who installed Nexus, or a superuser")}, "version %d; edited by hand: %s", r.Version, some(r.Drift))
		// What calls it fails.
		if slices.ContainsFunc(r.Drift, func(d string) bool { return strings.Contains(d, " was dropped in the database") }) {
			f.state, f.goOn = Broken, true
		}
		return f, nil
	case len(r.Applied) > 0:
		return warn(mend{up}, "version %d; to apply: %s", r.Version, some(r.Applied)), nil
	case len(r.Orphans) > 0:
		return warn(dropOrphans(r.Orphans), "version %d; in the schema, but not Nexus's: %s", r.Version, some(r.Orphans)), nil
	}
	return ok("version %d, as this program brings it", r.Version), nil
}

// unseenSchema is for logins that cannot become nexus_owner: they see that it is there and its version, and whose the
// objects are with what their owners lack (in r), not whether it was edited or what was granted to the other roles.
func unseenSchema(ctx context.Context, pool *pgxpool.Pool, r *migrate.Report) (finding, error) {
	there, err := hasSchema(ctx, pool)
	if err != nil {
		return finding{}, err
	}
	if !there {
		return broken(mend{command("nexus-node migrate up # as a superuser")}, "not installed"), nil
	}
	if r != nil && len(r.Unsafe) > 0 {
		f := broken(mend{command("nexus-node migrate up # as who installed Nexus, or a superuser")}, "not as installed: %s", some(r.Unsafe))
		f.goOn = true
		return f, nil
	}
	asInstaller := mend{advice("ask as the login that installed Nexus, or as a superuser")}
	err = migrate.Check(ctx, pool)
	e, is := errors.AsType[*nexus.Error](err)
	switch {
	case err == nil:
		return unknown(asInstaller, "the version that this program brings; not visible: whether it was edited, and whether the roles have the rights that they were given"), nil
	case is && e.Code == nexus.CodeSchemaOlder:
		return broken(mend{command("nexus-node migrate up # as who installed Nexus, or a superuser")}, "%s", e.Message), nil
	case is && e.Code == nexus.CodeSchemaUnreleased:
		return broken(mend{advice("take out what you want to keep, drop the schemas and install anew: nexus-node migrate up prints the lines")}, "%s", e.Message), nil
	case is && e.Code == nexus.CodeSchemaNewer:
		return broken(mend{advice("run a newer nexus-node")}, "%s", e.Message), nil
	case errors.Is(err, nexus.ErrForbidden):
		return unknown(asInstaller, "installed; not visible: its version, whether it was edited, and whether the roles have the rights that they were given"), nil
	}
	return finding{}, err
}

func lookPrivileges(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	var (
		login string
		super bool
		held  []string
		free  string
	)
	err := pool.QueryRow(ctx, `select session_user, r.rolsuper, array(
			select d.rolname::text from pg_catalog.pg_roles d
			 where d.rolname in ('nexus_reader', 'nexus_producer', 'nexus_consumer', 'nexus_operator', 'nexus_admin')
			   and pg_catalog.pg_has_role(session_user, d.oid, 'member')
			 order by d.rolname),
			(select 'app' || coalesce('_' || nullif(i, 1), '') from pg_catalog.generate_series(1, 1000) i
			  where not exists (select from pg_catalog.pg_roles x where x.rolname = 'app' || coalesce('_' || nullif(i, 1), '')) limit 1)
		from pg_catalog.pg_roles r where r.rolname = session_user`).Scan(&login, &super, &held, &free)
	if err != nil {
		return finding{}, err
	}
	switch {
	case super:
		return warn(mend{
			statement("create role %s login in role nexus_consumer, nexus_producer; -- as a superuser", free),
			advice(`give it a password (psql: \password %s), and connect as that`, free),
		}, "%s is a superuser", login), nil
	case len(held) == 0:
		return broken(mend{statement("grant nexus_consumer, nexus_producer to %s; -- as who installed Nexus", ident(login))}, "%s has no role of Nexus", login), nil
	}
	return ok("%s is in %s", login, strings.Join(held, ", ")), nil
}

func hasSchema(ctx context.Context, pool *pgxpool.Pool) (there bool, err error) {
	err = pool.QueryRow(ctx, `select exists (select from pg_catalog.pg_namespace where nspname = 'core')
		and exists (select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
		             where n.nspname = 'core' and c.relname = 'sweep_status')`).Scan(&there)
	return there, err
}

// dropOrphans: the installer names functions and views as SQL does, and triggers and policies with their table.
func dropOrphans(names []string) mend {
	var lines mend
	for _, name := range names {
		kind, _, _ := strings.Cut(name, " ")
		switch {
		case (kind == "trigger" || kind == "policy") && strings.Contains(name, " on "):
			lines = append(lines, statement("drop %s; -- as a superuser, if nobody needs it", name))
		case strings.HasSuffix(name, ")"):
			lines = append(lines, statement("drop routine %s; -- as a superuser, if nobody needs it", name))
		default:
			lines = append(lines, statement("drop view %s; -- as a superuser, if nobody needs it", name))
		}
	}
	return lines
}

// some names the first few of what may be many.
func some(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
