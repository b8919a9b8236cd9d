package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// upkeep are the checks of what goes on.
var upkeep = []probe{
	{name: "default partition", why: "rows there block the making of the partition they belong to", look: lookDefault},
	{name: "partitions ahead", why: "events of a month without its partition end up in the default one", look: lookPartitions},
	{name: "tick", why: "without it delayed events stay away and dead nodes stay listed", look: lookTick},
	{name: "pg_cron jobs", why: "a job that is missing, altered or somebody else's fails in silence, and one of a dropped role stops all", look: lookJobs},
	{name: "pg_cron runs", why: "pg_cron tells nobody that a job failed", look: lookRuns},
	{name: "pg_cron load", why: "without background workers, more pending jobs than may run stop pg_cron until the server restarts", look: lookLoad},
	{name: "sweeps", why: "each keeps one thing in order, and fails alone", look: lookSweeps},
	{name: "lost nodes", why: "a node that went without a goodbye was killed or cut off; its events are taken over", look: lookNodes},
	{name: "dead letters", why: "each is an event whose effect is missing until somebody decides", look: lookDeadLetters},
	{name: "queue tables", why: "forced row security or triggers of others on a queue's table hide messages or slow every emit", look: lookQueueTables},
}

const monthsAhead = 6

func lookPartitions(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type month struct {
		Name string
		Gap  bool // later months are there
	}
	rows, err := pool.Query(ctx, `select pg_catalog.to_char(m.at at time zone 'UTC', 'YYYY-MM'),
		       exists (select from core.partitions p where p.from_time > m.at)
		  from (select core.now() + pg_catalog.make_interval(months => i) as at from pg_catalog.generate_series(0, $1::int) i) m
		 where not exists (select from core.partitions p where p.from_time <= m.at and p.to_time > m.at)
		 order by m.at`, monthsAhead)
	if err != nil {
		return finding{}, err
	}
	months, err := pgx.CollectRows(rows, pgx.RowToStructByPos[month])
	if err != nil {
		return finding{}, err
	}
	if len(months) == 0 {
		return ok("%d months", monthsAhead), nil
	}
	var missing []string
	for _, m := range months {
		missing = append(missing, m.Name)
	}
	mend := "select core.run_sweep('partitions');"
	if months[0].Gap {
		if mend, err = mendGap(ctx, pool); err != nil {
			return finding{}, err
		}
	}
	found := "missing: " + strings.Join(missing, ", ")
	if len(missing) >= monthsAhead {
		return broken(mend, "%s", found).fixedBy(mend), nil
	}
	return warn(mend, "%s", found).fixedBy(mend), nil
}

// mendGap: pg_partman goes on from the newest partition and fills gaps only when told to; without it Nexus looks at every
// month.
func mendGap(ctx context.Context, pool *pgxpool.Pool) (string, error) {
	var schema string
	err := pool.QueryRow(ctx, `select coalesce((select n.nspname from pg_catalog.pg_extension e
		join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_partman'), '')`).Scan(&schema)
	if schema == "" {
		return "select core.run_sweep('partitions');", err
	}
	return fmt.Sprintf("set role nexus_owner; select %s.partition_gap_fill('core.event_log'); reset role;", ident(schema)), err
}

// lookDefault counts what lies before the first partition and after the last one: that is in no other than the default
// partition, and is found without a right on that itself.
func lookDefault(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	var first, last *time.Time
	err := pool.QueryRow(ctx, `select pg_catalog.min(from_time), pg_catalog.max(to_time) from core.partitions where not is_default`).
		Scan(&first, &last)
	if err != nil {
		return finding{}, err
	}
	var n int
	err = pool.QueryRow(ctx, `select pg_catalog.count(*) from (
			(select from core.event_log where emitted_at < coalesce($1::timestamptz, 'infinity') limit 10001)
			union all
			(select from core.event_log where emitted_at >= $2::timestamptz limit 10001)) d`, first, last).Scan(&n)
	if err != nil {
		return finding{}, err
	}
	if n > 0 {
		const mend = "select core.repair_partitions();"
		return broken(mend, "%s", counted(n, "row")).fixedBy(mend), nil
	}
	return ok("empty"), nil
}

// counted says "more than" where the count stopped.
func counted(n int, one string) string {
	if n > 10_000 {
		return "more than 10000 " + one + "s"
	}
	return plural(n, one)
}

func lookTick(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	var age *time.Duration
	err := pool.QueryRow(ctx, `select core.now() - pg_catalog.max(last_started_at) from core.sweep_status where driven_by = 'tick' and enabled`).
		Scan(&age)
	if err != nil {
		return finding{}, err
	}
	const (
		mend = "run a node, or see to pg_cron, above; then: nexus-node migrate up"
		once = "select core.tick(); -- once: something has to go on doing so"
	)
	switch {
	case age == nil:
		return warn(mend, "never").fixedBy(once), nil
	case *age > 10*time.Minute:
		return broken(mend, "last %s ago", age.Round(time.Second)).fixedBy(once), nil
	case *age > 3*time.Minute:
		return warn(mend, "last %s ago", age.Round(time.Second)).fixedBy(once), nil
	}
	return ok("last %s ago", age.Round(time.Second)), nil
}

func lookSweeps(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type sweep struct {
		Name      string
		Failures  int
		LastError *string
		Enabled   bool
	}
	rows, err := pool.Query(ctx, `select name, failures, last_error, enabled from core.sweep_status
		where failures > 0 or not enabled order by failures desc, name`)
	if err != nil {
		return finding{}, err
	}
	bad, err := pgx.CollectRows(rows, pgx.RowToStructByPos[sweep])
	if err != nil {
		return finding{}, err
	}
	var failing, off, again []string
	for _, s := range bad {
		if s.Failures > 0 && s.Enabled {
			again = append(again, "select core.run_sweep("+literal(s.Name)+");")
		}
		switch {
		case s.Failures > 0 && s.LastError != nil:
			failing = append(failing, fmt.Sprintf("%s failed %s: %s", s.Name, times(s.Failures), *s.LastError))
		case s.Failures > 0:
			failing = append(failing, fmt.Sprintf("%s failed %s", s.Name, times(s.Failures)))
		case !s.Enabled:
			off = append(off, s.Name+" is switched off")
		}
	}
	if len(failing) > 0 {
		return broken(fmt.Sprintf("select core.run_sweep(%s); -- shows whether it still fails", literal(bad[0].Name)),
			"%s", some(append(failing, off...))).fixedBy(again...), nil
	}
	if len(off) > 0 {
		return warn("nexus-node migrate up --repair", "%s", some(off)), nil
	}
	return ok("none fails"), nil
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func lookNodes(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	rows, err := pool.Query(ctx, `select node_id, state <> 'lost' from core.node_status
		where state = 'lost' or state in ('starting', 'active', 'draining') and not alive order by last_heartbeat desc limit 100`)
	if err != nil {
		return finding{}, err
	}
	var (
		lost     []string
		id       string
		unmarked bool
		fix      []string
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &unmarked}, func() error {
		lost = append(lost, id)
		if unmarked {
			fix = []string{"select core.reap_nodes();"}
		}
		return nil
	})
	if err != nil {
		return finding{}, err
	}
	if len(lost) > 0 {
		return warn("see why they ended; nexus-node node list", "%s", some(lost)).fixedBy(fix...), nil
	}
	return ok("none"), nil
}

func lookDeadLetters(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	var n int
	err := pool.QueryRow(ctx, `select pg_catalog.count(*) from (select from core.unresolved_dead_letters limit 10001) d`).Scan(&n)
	if err != nil {
		return finding{}, err
	}
	if n > 0 {
		return warn(`nexus-node dlq list -n ""; then dlq replay or dlq discard`, "%s unresolved", counted(n, "dead letter")), nil
	}
	return ok("none unresolved"), nil
}

func lookQueueTables(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type table struct {
		Name     string
		Security bool
		Triggers []string
	}
	rows, err := pool.Query(ctx, `select c.relname::text, c.relforcerowsecurity, array(
			select t.tgname::text from pg_catalog.pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal order by 1)
		  from pg_catalog.pg_class c
		  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
		 where n.nspname = 'pgmq' and pg_catalog.starts_with(c.relname, 'q_core_events_') and c.relkind in ('r', 'p')
		   and (c.relforcerowsecurity or exists (select from pg_catalog.pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal))
		 order by 1 limit 100`)
	if err != nil {
		return finding{}, err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[table])
	if err != nil {
		return finding{}, err
	}
	if len(tables) == 0 {
		return ok("nobody else's triggers or policies"), nil
	}
	var found []string
	for _, t := range tables {
		if t.Security {
			found = append(found, "forced row security on "+t.Name)
		}
		for _, trigger := range t.Triggers {
			found = append(found, fmt.Sprintf("trigger %s on %s", trigger, t.Name))
		}
	}
	return warn(mendTable(tables[0].Name, tables[0].Security, tables[0].Triggers), "%s", some(found)), nil
}

// mendTable undoes one thing. pgmq's own notify trigger is taken away by pgmq's function, which also forgets its settings.
func mendTable(name string, security bool, triggers []string) string {
	relation := pgx.Identifier{"pgmq", name}.Sanitize()
	switch {
	case security:
		return "alter table " + relation + " no force row level security;"
	case strings.Contains(triggers[0], "notify_queue"):
		return "select pgmq.disable_notify_insert(" + literal(strings.TrimPrefix(name, "q_")) + ");"
	}
	return "drop trigger " + ident(triggers[0]) + " on " + relation + ";"
}
