package doctor

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

// lookJobs looks for jobs that stop pg_cron, and for those of Nexus that are not as they should be. Only superusers see the jobs of
// others: a policy of cron.job hides them, without an error.
func lookJobs(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	e, err := lookExtension(ctx, pool, "pg_cron", cronProbe)
	if err != nil {
		return finding{}, err
	}
	var super bool
	if err := pool.QueryRow(ctx, `select rolsuper from pg_catalog.pg_roles where rolname = current_user`).Scan(&super); err != nil {
		return finding{}, err
	}
	if !e.Probe {
		return ok("no pg_cron, no jobs"), nil
	}
	if super {
		// DROP ROLE leaves a role's jobs behind, and pg_cron dies of the first that it reads.
		orphans, lines, err := ownerless(ctx, pool)
		if err != nil {
			return finding{}, err
		}
		if len(orphans) > 0 {
			return broken(lines, "owned by a role that does not exist, which stops every job of the server: %s", some(orphans)), nil
		}
	}
	return lookDrift(ctx, pool)
}

// ownerless names the jobs whose owner is gone, with the lines that remove them.
func ownerless(ctx context.Context, pool *pgxpool.Pool) (names []string, lines mend, err error) {
	type job struct {
		ID          int64
		Owner, Name string
	}
	orphans, err := records[job](ctx, pool, `select j.jobid, j.username::text, coalesce(j.jobname::text, '') from cron.job j
		where not exists (select from pg_catalog.pg_roles r where r.rolname::text = j.username::text)
		order by j.jobid limit 100`)
	for _, j := range orphans {
		lines = append(lines, statement("select cron.unschedule(%d); -- as a superuser", j.ID))
		names = append(names, fmt.Sprintf("job %d %s of %s", j.ID, literal(j.Name), j.Owner))
	}
	return names, lines, err
}

// lookDrift leaves out what a check of its own says: that pg_cron runs its jobs elsewhere.
func lookDrift(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type drift struct {
		ID                int64
		Kind, Job, Detail string
		Unknown           bool // a job of nexus_scheduler's that Nexus never made, and does not touch
	}
	all, err := records[drift](ctx, pool, `select coalesce(d.jobid, 0), d.kind, coalesce(d.jobname, 'job ' || d.jobid, ''), d.detail,
			d.kind = 'orphaned' and d.task_id is null and d.jobname like 'nexus:%'
		  from core.cron_drift d
		where d.kind <> 'wrong_database' or (select s.setting from pg_catalog.pg_settings s where s.name = 'cron.database_name') = pg_catalog.current_database()
		order by d.kind = 'foreign_owner', d.kind, d.jobname limit 100`)
	if err != nil {
		return finding{}, err
	}
	var (
		found []string
		own   bool
		lines mend
	)
	unseen := ""
	for _, d := range all {
		switch {
		case d.Kind == "not_visible":
			unseen = "; not visible: " + d.Detail
			if strings.HasPrefix(d.Detail, "nexus_scheduler") {
				return warn(mend{
					statement("grant usage on schema cron to nexus_scheduler; -- as a superuser"), command("nexus-node cron apply # as a member of nexus_admin"),
				}, "%s", d.Detail), nil
			}
		case d.Kind == "foreign_owner":
			lines = append(lines, d.Detail[strings.LastIndex(d.Detail, "select cron."):]+" -- as a superuser")
			found = append(found, fmt.Sprintf("%s is %s: %s", d.Job, d.Kind, d.Detail))
		case d.Unknown:
			lines = append(lines, statement("select cron.unschedule(%d); -- as a superuser, if nobody needs it", d.ID))
			found = append(found, fmt.Sprintf("%s is %s: %s", d.Job, d.Kind, d.Detail))
		default:
			own = true
			found = append(found, fmt.Sprintf("%s is %s: %s", d.Job, d.Kind, d.Detail))
		}
	}
	if len(found) > 0 {
		f := warn(lines, "%s", some(found))
		if own {
			f.mend = append(lines, command("nexus-node cron apply # as a member of nexus_admin"))
			f = f.fixedBy("select core.sync_cron_jobs();")
		}
		return f, nil
	}
	if unseen != "" {
		return unknown(mend{advice("ask as a superuser, to whom pg_cron shows the jobs of all")}, "as they should be%s", unseen), nil
	}
	return ok("as they should be"), nil
}

// lookRuns looks at the newest run of each job of Nexus. What kept a job from beginning, or cut it short, is the server's and not the
// job's: it is over once any job has run since. Its own next run may be a day away.
func lookRuns(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	hindrances, lines, err := hindered(ctx, pool)
	if err != nil {
		return finding{}, err
	}
	if len(hindrances) > 0 {
		return broken(lines, "nexus_scheduler, as whom the jobs run, %s", some(hindrances)), nil
	}
	type run struct{ Job, Message string }
	runs, err := records[run](ctx, pool, `select coalesce(r.jobname, 'job ' || r.jobid), coalesce(r.return_message, 'no message')
		from (select distinct on (d.jobid) d.* from core.cron_job_runs d order by d.jobid, d.runid desc) r
		where r.status = 'failed' and not (r.return_message ~ 'connection failed|background process|startup timeout|server restarted|is not permitted to log in|too many connections for role'
			and exists (select from core.cron_job_runs s where s.runid > r.runid and s.status = 'succeeded'))
		order by r.runid desc limit 100`)
	if err != nil {
		return finding{}, err
	}
	if len(runs) == 0 {
		return ok("none failed last"), nil
	}
	var found []string
	for _, r := range runs {
		found = append(found, r.Job+": "+strings.Join(strings.Fields(r.Message), " "))
	}
	soon := advice("and ask again after the next run, which shows whether it helped: nexus:tick runs each minute")
	switch first := runs[0].Message; {
	case strings.Contains(first, "connection failed"):
		workers, err := alterSystem(ctx, pool, "cron.use_background_workers", "on")
		if err != nil {
			return finding{}, err
		}
		return broken(append(workers, soon, advice(or+"let nexus_scheduler connect without a password in pg_hba.conf")), "%s", some(found)), nil
	case strings.Contains(first, "background process") || strings.Contains(first, "startup timeout"):
		var enough string
		if err := pool.QueryRow(ctx, `select (pg_catalog.current_setting('max_worker_processes')::int + 20)::text`).Scan(&enough); err != nil {
			return finding{}, err
		}
		more, err := alterSystem(ctx, pool, "max_worker_processes", enough)
		if err != nil {
			return finding{}, err
		}
		return broken(append(more, soon), "%s", some(found)), nil
	}
	return warn(mend{
		statement("select * from core.cron_job_runs where status = 'failed' order by runid desc limit 20; -- as a member of nexus_reader: each with its message"),
		advice("the next run that succeeds settles it"),
	}, "%s", some(found)), nil
}

// hindered says what keeps the role that the jobs run as from working, before a run has failed of it, with the lines that end it.
// Nexus gives the role settings of its own in the database, which win over those that somebody gives it for all databases.
func hindered(ctx context.Context, pool *pgxpool.Pool) (what []string, lines mend, err error) {
	var login, limited bool
	var settings []string // name=value
	var databases []string
	err = pool.QueryRow(ctx, `select coalesce(pg_catalog.bool_and(r.rolcanlogin), true), coalesce(pg_catalog.bool_or(r.rolconnlimit >= 0), false),
			coalesce(pg_catalog.array_agg(s.setting order by s.setting, s.setdatabase) filter (where s.setting is not null), '{}'),
			coalesce(pg_catalog.array_agg(coalesce(s.datname::text, '') order by s.setting, s.setdatabase) filter (where s.setting is not null), '{}')
		from pg_catalog.pg_roles r
		left join lateral (
			select c.setting, d.setdatabase, b.datname
			  from pg_catalog.pg_db_role_setting d
			 cross join pg_catalog.unnest(d.setconfig) c (setting)
			  left join pg_catalog.pg_database b on b.oid = d.setdatabase
			 where d.setrole = r.oid
			   and (b.datname = pg_catalog.current_database()
			        or d.setdatabase = 0 and not exists (
			             select from pg_catalog.pg_db_role_setting n
			               join pg_catalog.pg_database nb on nb.oid = n.setdatabase and nb.datname = pg_catalog.current_database()
			              cross join pg_catalog.unnest(n.setconfig) nc (setting)
			              where n.setrole = r.oid and pg_catalog.split_part(nc.setting, '=', 1) = pg_catalog.split_part(c.setting, '=', 1)))
			   and c.setting ~ '^(default_transaction_read_only=(on|true|yes|1)|row_security=(off|false|no|0)|role=|session_replication_role=)') s on true
		where r.rolname = 'nexus_scheduler' and exists (select from pg_catalog.pg_extension where extname = 'pg_cron')`).
		Scan(&login, &limited, &settings, &databases)
	if err != nil {
		return nil, nil, err
	}
	if !login {
		what, lines = append(what, "may not log in"), append(lines, statement("alter role nexus_scheduler login; -- as a superuser"))
	}
	if limited {
		what, lines = append(what, "has a limit of connections"), append(lines, statement("alter role nexus_scheduler connection limit -1; -- as a superuser"))
	}
	for i, s := range settings {
		name, _, _ := strings.Cut(s, "=")
		what = append(what, "has the setting "+s)
		if databases[i] == "" {
			lines = append(lines, statement("alter role nexus_scheduler reset %s; -- as a superuser", name))
		} else {
			lines = append(lines, statement("alter role nexus_scheduler in database %s reset %s; -- as a superuser", ident(databases[i]), name))
		}
	}
	return what, lines, nil
}

// lookLoad counts what may be pending at once.
func lookLoad(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	e, err := lookExtension(ctx, pool, "pg_cron", cronProbe)
	if err != nil {
		return finding{}, err
	}
	if !e.Probe {
		return ok("no pg_cron, no jobs"), nil
	}
	var (
		workers, maximum *string
		active           int
		all              bool
	)
	err = pool.QueryRow(ctx, `select (select s.setting from pg_catalog.pg_settings s where s.name = 'cron.use_background_workers'),
		(select s.setting from pg_catalog.pg_settings s where s.name = 'cron.max_running_jobs'),
		pg_catalog.has_schema_privilege('cron', 'usage') and not pg_catalog.row_security_active('cron.job')`).Scan(&workers, &maximum, &all)
	if err != nil {
		return finding{}, err
	}
	jobs := `select pg_catalog.count(*) from core.cron_jobs j where j.active`
	if all {
		jobs = `select pg_catalog.count(*) from cron.job j where j.active`
	}
	if err := pool.QueryRow(ctx, jobs).Scan(&active); err != nil {
		return finding{}, err
	}
	if workers == nil || maximum == nil {
		return unseenSetting(pool), nil
	}
	var limit int
	if _, err := fmt.Sscan(*maximum, &limit); err != nil {
		return finding{}, err
	}
	more, err := alterSystem(ctx, pool, "cron.max_running_jobs", strconv.Itoa(active))
	if err != nil {
		return finding{}, err
	}
	return judgeLoad(*workers == "on", active, limit, more), nil
}

// judgeLoad: jobs that connect through libpq and exceed the limit stop pg_cron until the server restarts; background workers wait.
func judgeLoad(workers bool, active, limit int, more mend) finding {
	found := fmt.Sprintf("%s, of which %d may run at once", plural(active, "active job"), limit)
	if workers || active <= limit {
		return ok("%s", found)
	}
	return warn(append(more, or+statement(`select core.alter_scheduler('{"max_cron_jobs": 0}'); -- as a member of nexus_admin; fewer jobs of tasks`)), "%s: more that are pending stop pg_cron for good", found)
}
