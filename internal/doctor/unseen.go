package doctor

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

const queuePrefix = "core_events_"

// unlisted is a condition on pg_class c: a table of a queue of Nexus that is in no list of queues which the login sees.
const unlisted = `c.relnamespace = pg_catalog.to_regnamespace('pgmq') and c.relkind in ('r', 'p') and pg_catalog.starts_with(c.relname, 'q_` + queuePrefix + `')
		   and c.relowner = pg_catalog.to_regrole('nexus_owner')
		   and not exists (select from core.queues q where 'q_' || q.queue_name = c.relname)
		   and not exists (select from core.lost_queues l where 'q_' || l.queue_name = c.relname)`

// seesAll tells whether the rows of every namespace are shown to the login, as they are to administrators and superusers.
func seesAll(ctx context.Context, pool *pgxpool.Pool) (all bool, err error) {
	err = pool.QueryRow(ctx, `select pg_catalog.pg_has_role(current_user, 'nexus_admin', 'member')`).Scan(&all)
	return all, err
}

// asFarAsSeen is a finding that all is well, unless there are queues of namespaces that the login may not read: then that is not known.
// The catalog shows the queues of all, and hides no names.
func (f finding) asFarAsSeen(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	if all, err := seesAll(ctx, pool); err != nil || all {
		return f, err
	}
	var hidden int
	err := pool.QueryRow(ctx, `select pg_catalog.count(*) from pg_catalog.pg_class c where `+unlisted).Scan(&hidden)
	if err != nil || hidden == 0 {
		return f, err
	}
	return unknown(mend{advice("ask as a member of nexus_admin, or of a role that the restricted namespaces are granted to")},
		"%s, as far as this login sees; hidden from it: %s", f.found, plural(hidden, "queue")), nil
}
