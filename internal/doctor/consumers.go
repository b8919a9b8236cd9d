package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// lookConsumers looks for consumers that somebody paused and forgot, and for backfills that wait for a transaction which does not end. A webhook
// that was paused for its failures is told by a check of its own.
func lookConsumers(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type consumer struct {
		Namespace, Name string
		Paused          bool
		Since           *time.Time
		Waits           int64
	}
	bad, err := records[consumer](ctx, pool, `select c.namespace, c.consumer, c.paused, c.since, c.waits
		  from (select s.namespace, s.consumer, s.state = 'paused' as paused, coalesce(s.backfill_waits_for, 0) as waits,
		               case when s.state = 'paused'
		                    then (select pg_catalog.max(a.happened_at) from core.audit_log a
		                           where a.action = 'pause_consumer' and a.namespace = s.namespace and a.target = s.consumer)
		                    else s.backfill_created_at end as since
		          from core.consumer_status s
		         where s.state = 'paused' and not exists (select from core.webhook_status w
		                  where w.namespace = s.namespace and w.name = s.consumer and w.paused_reason is not null)
		            or s.backfill = 'waiting' and s.backfill_waits_for > 0) c
		 where c.since is null or c.since < core.now() - case when c.paused then interval '1 day' else interval '10 minutes' end
		 order by c.paused desc, 1, 2 limit 100`)
	if err != nil {
		return finding{}, err
	}
	if len(bad) == 0 {
		return ok("none is paused for a day, no backfill waits for long"), nil
	}
	var found []string
	var lines mend
	for _, c := range bad {
		since := ""
		if c.Since != nil {
			since = " since " + c.Since.UTC().Format("2006-01-02 15:04 UTC")
		}
		if c.Paused {
			found = append(found, fmt.Sprintf("%s/%s is paused%s", c.Namespace, c.Name, since))
			lines = append(lines, statement("select core.resume_consumer(%s, %s); -- as a member of nexus_operator, if what it waits for is there", literal(c.Namespace), literal(c.Name)))
			continue
		}
		found = append(found, fmt.Sprintf("the backfill of %s/%s waits%s for %s that began before it", c.Namespace, c.Name, since, plural(int(c.Waits), "transaction")))
		lines = append(lines, advice(`see the checks "xmin horizon" and "locks", or core.blockers: it begins when they have ended`))
	}
	return warn(lines, "%s", some(found)), nil
}

// lookHandlers looks for handlers in SQL that are not called as they are.
func lookHandlers(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type handler struct{ Namespace, Consumer, Owner, Trouble, Mend string }
	bad, err := records[handler](ctx, pool, `select h.namespace, h.consumer, h.owner, h.trouble, h.mend
		  from core.sql_handlers h where h.trouble is not null order by 1, 2 limit 100`)
	if err != nil {
		return finding{}, err
	}
	if len(bad) == 0 {
		return ok("all may be called"), nil
	}
	var found []string
	var lines mend
	for _, h := range bad {
		found = append(found, fmt.Sprintf("%s/%s: %s", h.Namespace, h.Consumer, h.Trouble))
		drop := statement("select core.unsubscribe(%s, %s); -- as a member of nexus_operator, if nobody needs it", literal(h.Namespace), literal(h.Consumer))
		if strings.HasSuffix(h.Mend, ";") {
			lines = append(lines, statement("%s; -- as its owner %s, or as a superuser", strings.TrimSuffix(h.Mend, ";"), h.Owner), or+drop)
		} else {
			lines = append(lines, advice("or see to it as %s: %s", h.Owner, h.Mend), drop)
		}
	}
	return warn(lines, "%s", some(found)), nil
}

// lookWorkJob looks for pg_cron's job of the handlers in SQL, which only a superuser makes and sees.
func lookWorkJob(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	e, err := lookExtension(ctx, pool, "pg_cron", cronProbe)
	if err != nil {
		return finding{}, err
	}
	if !e.Probe {
		return ok("no pg_cron, no jobs"), nil
	}
	var here *bool
	var super, handlers bool
	if err := pool.QueryRow(ctx, `select (select s.setting = pg_catalog.current_database() from pg_catalog.pg_settings s where s.name = 'cron.database_name'),
		r.rolsuper, r.rolsuper or exists (select from core.sql_handlers) from pg_catalog.pg_roles r where r.rolname = current_user`).Scan(&here, &super, &handlers); err != nil {
		return finding{}, err
	}
	switch {
	case here != nil && !*here:
		return ok("pg_cron runs no jobs in this database"), nil
	case !super && handlers:
		return unknown(mend{advice("ask as a superuser, to whom pg_cron shows the jobs of all")}, "not visible: the job nexus:work is one of nexus_sql"), nil
	case !super:
		return ok("there are no handlers in SQL"), nil
	}
	type job struct {
		ID          int64
		Name, Owner string
		Good        bool
	}
	jobs, err := records[job](ctx, pool, `select j.jobid, coalesce(j.jobname::text, ''), j.username::text,
			j.active and j.schedule = '* * * * *' and j.database = pg_catalog.current_database() and j.command = 'call core.work_all()'
		  from cron.job j where j.jobname = 'nexus:work' or j.command ~* 'core[.]work_all' order by j.jobid limit 100`)
	if err != nil {
		return finding{}, err
	}
	var found []string
	var lines mend
	missing := true
	for _, j := range jobs {
		switch {
		case j.Owner != "nexus_sql" || j.Name != "nexus:work":
			found = append(found, fmt.Sprintf("job %d %s of %s runs no handlers: only nexus:work of nexus_sql does", j.ID, literal(j.Name), j.Owner))
			lines = append(lines, statement("select cron.unschedule(%d); -- as a superuser", j.ID))
		case !j.Good:
			missing = false
			found = append(found, "nexus:work is switched off or altered")
			lines = append(lines, command("nexus-node migrate up # as a superuser"))
		default:
			missing = false
		}
	}
	if missing {
		found = append(found, "nexus:work is missing")
		lines = append(lines, command("nexus-node migrate up # as a superuser"))
	}
	if len(found) > 0 {
		return warn(lines, "%s", some(found)), nil
	}
	return ok("nexus:work is there"), nil
}
