package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/migrate"
)

// schema are the checks of what is installed.
var schema = []probe{
	{name: "privileges", why: "a node takes nexus_consumer and nexus_producer, and nothing takes a superuser at run time", look: lookPrivileges},
	{name: "schema", why: "this program's calls fit one version of the schema, and what was edited by hand is lost at the next migration", look: lookSchema, decisive: true},
}

func lookSchema(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	r, err := migrate.Status(ctx, pool)
	if e, is := errors.AsType[*nexus.Error](err); is && (e.Code == nexus.CodeInstallerRights || errors.Is(err, nexus.ErrForbidden)) {
		return unseenSchema(ctx, pool)
	}
	if err != nil {
		return finding{}, err
	}
	const up = "nexus-node migrate up"
	switch {
	case r.Version == 0:
		return broken(up, "not installed"), nil
	case r.Version < r.Want:
		return broken(up, "version %d, this program brings %d", r.Version, r.Want), nil
	case r.Version > r.Want:
		return broken("run a newer nexus-node", "version %d is newer than this program, which knows %d", r.Version, r.Want), nil
	case len(r.Drift) > 0:
		return warn(up+" --repair", "version %d; edited by hand: %s", r.Version, some(r.Drift)), nil
	case len(r.Applied) > 0:
		return warn(up, "version %d; to apply: %s", r.Version, some(r.Applied)), nil
	case len(r.Orphans) > 0:
		return warn("drop them if nobody else made them", "version %d; in the schema, but not Nexus's: %s", r.Version, some(r.Orphans)), nil
	}
	return ok("version %d, as this program brings it", r.Version), nil
}

// unseenSchema is for logins that cannot become nexus_owner: they see that it is there, not whether it was edited.
func unseenSchema(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	there, err := hasSchema(ctx, pool)
	if err != nil {
		return finding{}, err
	}
	if !there {
		return broken("nexus-node migrate up -- as a superuser", "not installed"), nil
	}
	return ok("installed; its version and edits are visible to the installer's login only"), nil
}

func lookPrivileges(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	var (
		login string
		super bool
		held  []string
	)
	err := pool.QueryRow(ctx, `select session_user, r.rolsuper, array(
			select d.rolname::text from pg_catalog.pg_roles d
			 where d.rolname in ('nexus_reader', 'nexus_producer', 'nexus_consumer', 'nexus_operator', 'nexus_admin')
			   and pg_catalog.pg_has_role(session_user, d.oid, 'member')
			 order by d.rolname)
		from pg_catalog.pg_roles r where r.rolname = session_user`).Scan(&login, &super, &held)
	if err != nil {
		return finding{}, err
	}
	grant := fmt.Sprintf("grant nexus_consumer, nexus_producer to %s;", ident(login))
	switch {
	case super:
		return warn("create role app login password '…'; grant nexus_consumer, nexus_producer to app; -- and connect as that",
			"%s is a superuser", login), nil
	case len(held) == 0:
		return broken(grant, "%s has no role of Nexus", login), nil
	}
	return ok("%s is in %s", login, strings.Join(held, ", ")), nil
}

func hasSchema(ctx context.Context, pool *pgxpool.Pool) (there bool, err error) {
	err = pool.QueryRow(ctx, `select exists (select from pg_catalog.pg_namespace where nspname = 'core')
		and exists (select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
		             where n.nspname = 'core' and c.relname = 'sweep_status')`).Scan(&there)
	return there, err
}

// some names the first few of what may be many.
func some(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
