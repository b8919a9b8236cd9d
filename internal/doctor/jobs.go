package doctor

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// lookJobs looks for jobs that pg_cron keeps but cannot run, and for those of Nexus that it ought to run and does not. Only
// superusers see the jobs of others: a policy of cron.job hides them, without an error.
func lookJobs(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	e, err := lookExtension(ctx, pool, "pg_cron", cronProbe)
	if err != nil {
		return finding{}, err
	}
	var super bool
	if err := pool.QueryRow(ctx, `select rolsuper from pg_catalog.pg_roles where rolname = current_user`).Scan(&super); err != nil {
		return finding{}, err
	}
	switch {
	case !e.Probe:
		return ok("no pg_cron, no jobs"), nil
	case !super:
		return ok("not visible to this login, which is no superuser"), nil
	}
	// DROP ROLE leaves a role's jobs behind: pg_cron tries each at its time, and cannot connect.
	orphans, first, err := ownerless(ctx, pool)
	if err != nil {
		return finding{}, err
	}
	if len(orphans) > 0 {
		return warn(fmt.Sprintf("select cron.unschedule(%d);", first), "owned by a role that does not exist: %s", some(orphans)), nil
	}
	return lookOwnJobs(ctx, pool)
}

// ownerless names the jobs whose owner is gone, and gives the id of the first.
func ownerless(ctx context.Context, pool *pgxpool.Pool) (names []string, first int64, err error) {
	rows, err := pool.Query(ctx, `select j.jobid, j.username::text, coalesce(j.jobname::text, '') from cron.job j
		where not exists (select from pg_catalog.pg_roles r where r.rolname::text = j.username::text)
		order by j.jobid limit 100`)
	if err != nil {
		return nil, 0, err
	}
	var (
		id          int64
		owner, name string
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &owner, &name}, func() error {
		if first == 0 {
			first = id
		}
		names = append(names, fmt.Sprintf("job %d %s of %s", id, literal(name), owner))
		return nil
	})
	return names, first, err
}

// lookOwnJobs asks only where pg_cron fires; a check of its own says where it does not. Missing ones are made again without asking;
// one that somebody switched off stays so.
func lookOwnJobs(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	rows, err := pool.Query(ctx, `select n.name, exists (select from cron.job j where j.jobname = n.name and j.database = pg_catalog.current_database())
		from pg_catalog.unnest(array['nexus:tick', 'nexus:partitions', 'nexus:retention', 'nexus:job_run_details', 'nexus:timezones']) n(name)
		where pg_catalog.current_setting('cron.database_name', true) = pg_catalog.current_database()
		  and not exists (select from cron.job j where j.jobname = n.name and j.active and j.database = pg_catalog.current_database())`)
	if err != nil {
		return finding{}, err
	}
	var (
		name        string
		off, anyOff bool
		missing     []string
	)
	_, err = pgx.ForEachRow(rows, []any{&name, &off}, func() error {
		missing = append(missing, name)
		anyOff = anyOff || off
		return nil
	})
	if err != nil {
		return finding{}, err
	}
	if len(missing) == 0 {
		return ok("each has an owner"), nil
	}
	f := warn("nexus-node migrate up", "missing or switched off: %s", some(missing))
	if !anyOff {
		f = f.fixedBy("select core_private.ensure_jobs();")
	}
	return f, nil
}
