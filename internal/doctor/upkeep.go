package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// upkeep are the checks of what goes on.
var upkeep = []probe{
	{name: "default partition", why: "rows there block the making of the partition they belong to", rows: true, look: lookDefault},
	{name: "partitions ahead", why: "events of a month without its partition end up in the default one", look: lookPartitions},
	{name: "partition owners", why: "a partition that somebody else made, with pg_partman or by hand, cannot be changed by a migration", look: lookOwners},
	{name: "lost queues", why: "without its tables nothing is emitted to a queue, handled or buried, and without its row in core.queues nothing is handled; what is delayed, parked or scheduled for it waits", look: lookLostQueues},
	{name: "tick", why: "without it delayed events stay away and dead nodes stay listed", look: lookTick},
	{name: "pg_cron jobs", why: "a job that is missing, altered or somebody else's fails in silence, and one of a dropped role stops all", look: lookJobs},
	{name: "pg_cron runs", why: "pg_cron tells nobody that a job failed", look: lookRuns},
	{name: "pg_cron load", why: "without background workers, more pending jobs than may run stop pg_cron until the server restarts", look: lookLoad},
	{name: "sweeps", why: "each keeps one thing in order, and fails alone", look: lookSweeps},
	{name: "lost nodes", why: "a node that went without a goodbye was killed or cut off; its events are taken over", rows: true, look: lookNodes},
	{name: "dead letters", why: "each is an event whose effect is missing until somebody decides", rows: true, look: lookDeadLetters},
	{name: "webhooks", why: "the events of a webhook that is paused wait, and those of one that fails become dead letters", rows: true, look: lookWebhooks},
	{name: "consumers", why: "the events of a consumer that is paused wait, and one whose backfill stands lacks what was before it", rows: true, look: lookConsumers},
	{name: "SQL handlers", why: "the events of a handler in SQL that may not be called wait", rows: true, look: lookHandlers},
	{name: "nexus:work", why: "without this job of pg_cron handlers in SQL wait for a node, and no other role may run them", look: lookWorkJob},
	{name: "broadcasts", why: "each node has to read them before they are removed by their age", rows: true, look: lookBroadcasts},
	{name: "lanes", why: "all messages of a lane wait for the one that it stands at", rows: true, look: lookLanes},
	{name: "abandoned executions", why: "a handler of requests did something, and whoever asked does not know it", rows: true, look: lookAbandoned},
	{name: "triggers", why: "the deliveries of a trigger that nobody handles wait, and those of one that may not have them become dead letters", rows: true, look: lookTriggers},
	{name: "workflows", why: "a run that is half undone, parked, or of code that no live node has goes on by itself never", rows: true, look: lookWorkflows},
	{name: "claims", why: "somebody took dead letters to mend them, and did not", rows: true, look: lookClaims},
	{name: "watched tables", why: "changes of a table whose watch is off, or lacks a trigger, fire nothing, and nobody is told", rows: true, look: lookWatched},
	{name: "queue tables", why: "forced row security or triggers of others on a queue's table hide messages or slow every emit", look: lookQueueTables},
}

const monthsAhead = 6

// lookPartitions looks for whole months: one that begins or ends at another time than its name says leaves a gap beside it.
func lookPartitions(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	var missing, wrong []string
	err := pool.QueryRow(ctx, `select array(
			select pg_catalog.to_char(m.at, 'YYYY-MM')
			  from (select pg_catalog.date_trunc('month', core.now() at time zone 'UTC') + pg_catalog.make_interval(months => i) as at
			          from pg_catalog.generate_series(0, $1::int) i) m
			 where not exists (select from core.partitions p where p.is_month and p.from_time = m.at at time zone 'UTC')
			 order by m.at),
		array(select p.partition_name from core.partitions p where not p.is_default and not p.is_month order by p.from_time limit 100)`,
		monthsAhead).Scan(&missing, &wrong)
	if err != nil {
		return finding{}, err
	}
	repair := statement("select core.repair_partitions(); -- as a member of nexus_admin")
	makeMonths := statement("select core.run_sweep('partitions'); -- as a member of nexus_admin")
	switch {
	case len(missing) == 0 && len(wrong) == 0:
		return ok("%d months", monthsAhead), nil
	case len(wrong) == 0 && len(missing) >= monthsAhead:
		return broken(mend{makeMonths}, "missing: %s", strings.Join(missing, ", ")).fixedBy(makeMonths), nil
	case len(wrong) == 0:
		return warn(mend{makeMonths}, "missing: %s", strings.Join(missing, ", ")).fixedBy(makeMonths), nil
	case len(missing) == 0:
		return warn(mend{repair}, "other bounds than those of a month: %s", some(wrong)).fixedBy(repair), nil
	}
	return broken(mend{repair}, "missing: %s; other bounds than those of a month: %s", strings.Join(missing, ", "), some(wrong)).fixedBy(repair), nil
}

// lookOwners: what somebody else made for the log is his. Rows come and go all the same, but no migration can change it.
func lookOwners(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type partition struct {
		Name, Relation, Owner string
		May                   bool // nexus_owner may take it
	}
	others, err := records[partition](ctx, pool, `select p.partition_name, pg_catalog.format('%I.%I', n.nspname, c.relname), p.owner::text,
			pg_catalog.pg_has_role('nexus_owner', p.owner, 'usage')
		  from core.partitions p
		  join pg_catalog.pg_inherits i on i.inhparent = 'core.event_log'::regclass
		  join pg_catalog.pg_class c on c.oid = i.inhrelid and c.relname::text = p.partition_name
		  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
		 where p.owner <> 'nexus_owner' order by 4 desc, 1 limit 100`)
	if err != nil {
		return finding{}, err
	}
	if len(others) == 0 {
		return ok("nexus_owner"), nil
	}
	var found []string
	for _, p := range others {
		found = append(found, p.Name+" belongs to "+p.Owner)
	}
	var lines mend
	var fix []string
	for _, p := range others {
		if p.May {
			repair := statement("select core.repair_partitions(); -- as a member of nexus_admin")
			lines, fix = mend{repair}, []string{repair} // all of those at once
			continue
		}
		lines = append(lines, statement("alter table if exists %s owner to nexus_owner; -- as a superuser", p.Relation))
	}
	return warn(lines, "%s", some(found)).fixedBy(fix...), nil
}

// lookLostQueues looks for queues of Nexus that somebody dropped with pgmq, or whose tables. What was on them is gone; they are made again
// empty, as at first.
func lookLostQueues(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type queue struct {
		Namespace, Name string
		Missing         []string
	}
	lost, err := records[queue](ctx, pool, `select namespace, queue_name, missing from core.lost_queues
		order by missing && '{queue, registry}' desc, namespace, queue_name limit 100`)
	if err != nil {
		return finding{}, err
	}
	if len(lost) == 0 {
		return lookUnowned(ctx, pool)
	}
	state := Warn
	var (
		found []string
		lines mend
	)
	parts := map[string]string{"archive": "the archive of ", "meta": "pgmq's row of ", "registry": "the row in core.queues of "}
	for _, q := range lost {
		what := q.Name
		if slices.Contains(q.Missing, "queue") {
			state = Broken
		} else {
			what = parts[q.Missing[0]] + q.Name
		}
		if slices.Contains(q.Missing, "registry") {
			state = Broken
		}
		found = append(found, fmt.Sprintf("%s of namespace %s", what, q.Namespace))
		if line := statement("select core.create_namespace(%s); -- as a member of nexus_admin", literal(q.Namespace)); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	f := warn(lines, "missing: %s", some(found)).fixedBy(lines...)
	f.state = state
	return f, nil
}

// lookUnowned looks for tables of queues of no namespace, as a namespace leaves behind whose row was deleted by hand.
func lookUnowned(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	if all, err := seesAll(ctx, pool); err != nil || !all {
		return ok("none"), err
	}
	var names []string
	err := pool.QueryRow(ctx, `select coalesce(pg_catalog.array_agg(t.name order by t.name), '{}') from (
		select pg_catalog.substr(c.relname, 3) as name from pg_catalog.pg_class c where `+unlisted+` order by 1 limit 100) t`).Scan(&names)
	if err != nil || len(names) == 0 {
		return ok("none"), err
	}
	var lines mend
	for _, name := range names {
		main := strings.TrimSuffix(name, "_dlq")
		if main == name || !slices.Contains(names, main) {
			lines = append(lines, statement("select core.create_namespace(%s); -- as a member of nexus_admin; or as it was called: - is _ in the name of a queue", literal(strings.TrimPrefix(main, queuePrefix))))
		}
		lines = append(lines, or+statement("select pgmq.drop_queue(%s); -- as a superuser, if nobody needs what is on it", literal(name)))
	}
	return broken(lines, "tables of no namespace, which is gone with what it had but those: %s", some(names)), nil
}

// lookDefault counts what lies before, between and after the other partitions: that is in no other than the default one, and is found
// without a right on that itself.
func lookDefault(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	var n int
	err := pool.QueryRow(ctx, `with bounds as materialized (select p.from_time, p.to_time from core.partitions p where not p.is_default),
		gaps as materialized (
			select pg_catalog.lag(b.to_time, 1, '-infinity') over (order by b.from_time) as lower, b.from_time as upper from bounds b
			union all
			select coalesce(pg_catalog.max(b.to_time), '-infinity'), 'infinity' from bounds b)
		select pg_catalog.count(*) from (
			select from gaps g cross join lateral (
				select from core.event_log e where e.emitted_at >= g.lower and e.emitted_at < g.upper limit 10001) r
			 where g.lower < g.upper limit 10001) d`).Scan(&n)
	if err != nil {
		return finding{}, err
	}
	if n > 0 {
		repair := statement("select core.repair_partitions(); -- as a member of nexus_admin")
		return broken(mend{repair}, "%s", counted(n, "row")).fixedBy(repair), nil
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
	once := statement("select core.tick(); -- as a member of nexus_operator, once: something has to go on doing so")
	lines := mend{once, advice("and run a node, or see the checks of pg_cron")}
	switch {
	case age == nil:
		return warn(lines, "never").fixedBy(once), nil
	case *age > 10*time.Minute:
		return broken(lines, "last %s ago", age.Round(time.Second)).fixedBy(once), nil
	case *age > 3*time.Minute:
		return warn(lines, "last %s ago", age.Round(time.Second)).fixedBy(once), nil
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
	bad, err := records[sweep](ctx, pool, `select name, failures, last_error, enabled from core.sweep_status
		where failures > 0 or not enabled order by failures desc, name`)
	if err != nil {
		return finding{}, err
	}
	var failing, off, again []string
	var switchOn mend
	for _, s := range bad {
		if s.Failures > 0 && s.Enabled {
			again = append(again, statement("select core.run_sweep(%s); -- as a member of nexus_admin", literal(s.Name)))
		}
		switch {
		case s.Failures > 0 && s.LastError != nil:
			failing = append(failing, fmt.Sprintf("%s failed %s: %s", s.Name, times(s.Failures), *s.LastError))
		case s.Failures > 0:
			failing = append(failing, fmt.Sprintf("%s failed %s", s.Name, times(s.Failures)))
		}
		if !s.Enabled && s.LastError != nil && strings.HasPrefix(*s.LastError, "NX106") {
			failing = append(failing, s.Name+" is not registered")
			again = append(again, statement("select core.run_sweep(%s); -- as a member of nexus_admin", literal(s.Name)))
			continue
		}
		if !s.Enabled {
			off = append(off, s.Name+" is switched off")
			switchOn = append(switchOn, statement("update core_private.sweeps set enabled = true where name = %s; -- as a superuser", literal(s.Name)))
		}
	}
	if len(failing) > 0 {
		return broken(append(mend(again), switchOn...), "%s", some(append(failing, off...))).fixedBy(again...), nil
	}
	if len(off) > 0 {
		return warn(switchOn, "%s", some(off)), nil
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
	type node struct {
		Namespace, ID string
		Unmarked      bool
	}
	gone, err := records[node](ctx, pool, `select namespace, node_id, state <> 'lost' from core.node_status
		where state = 'lost' or state in ('starting', 'active', 'draining') and not alive order by last_heartbeat desc limit 100`)
	if err != nil {
		return finding{}, err
	}
	var lost, fix []string
	var forget mend
	for _, n := range gone {
		lost = append(lost, n.ID)
		if n.Unmarked {
			fix = []string{statement("select core_node.reap_nodes(); -- as a member of nexus_admin")}
		}
		forget = append(forget, command("nexus-node node forget %s -n %s # as a member of nexus_operator", quoted(n.ID), quoted(n.Namespace)))
	}
	if len(lost) > 0 {
		lines := slices.Concat(mend{advice("see why they ended; then, to take them off the list:")}, mend(fix), forget)
		return warn(lines, "%s", some(lost)).fixedBy(fix...), nil
	}
	return ok("none"), nil
}

func lookDeadLetters(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	var n int
	var namespaces []string
	err := pool.QueryRow(ctx, `select pg_catalog.count(*), coalesce(pg_catalog.array_agg(distinct d.namespace), '{}')
		from (select l.namespace from core.unresolved_dead_letters l limit 10001) d`).Scan(&n, &namespaces)
	if err != nil {
		return finding{}, err
	}
	if n == 0 {
		return ok("none unresolved"), nil
	}
	lines := mend{advice(`see why: nexus-node dlq group -n ""`)}
	for _, ns := range namespaces {
		lines = append(lines,
			command("nexus-node dlq replay -n %s --limit 0 # as a member of nexus_operator, once what made them fail is mended", quoted(ns)),
			or+command("nexus-node dlq discard -n %s --limit 0 --note 'not wanted' # as a member of nexus_operator", quoted(ns)))
	}
	var expired int
	var by []string
	err = pool.QueryRow(ctx, `select pg_catalog.count(*), coalesce(pg_catalog.array_agg(distinct c.claimed_by), '{}')
		from (select l.claimed_by from core.dead_letter_claims l where l.expired limit 10001) c`).Scan(&expired, &by)
	if err != nil {
		return finding{}, err
	}
	if expired > 0 {
		lines = append(lines, advice("look after what claims dead letters and then dies or takes too long; what it had counts as pending"))
		return warn(lines, "%s unresolved; %s whose time is over, of %s", counted(n, "dead letter"), counted(expired, "claim"), some(by)), nil
	}
	return warn(lines, "%s unresolved", counted(n, "dead letter")), nil
}

func lookQueueTables(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type table struct {
		Name     string
		Security bool
		Triggers []string
	}
	tables, err := records[table](ctx, pool, `select c.relname::text, c.relforcerowsecurity, array(
			select t.tgname::text from pg_catalog.pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal order by 1)
		  from pg_catalog.pg_class c
		  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
		 where n.nspname = 'pgmq' and pg_catalog.starts_with(c.relname, 'q_core_events_') and c.relkind in ('r', 'p')
		   and (c.relforcerowsecurity or exists (select from pg_catalog.pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal))
		 order by 1 limit 100`)
	if err != nil {
		return finding{}, err
	}
	if len(tables) == 0 {
		return ok("nobody else's triggers or policies"), nil
	}
	var found []string
	var lines mend
	for _, t := range tables {
		relation := pgx.Identifier{"pgmq", t.Name}.Sanitize()
		if t.Security {
			found = append(found, "forced row security on "+t.Name)
			lines = append(lines, statement("alter table %s no force row level security; -- as a superuser", relation))
		}
		for _, trigger := range t.Triggers {
			found = append(found, fmt.Sprintf("trigger %s on %s", trigger, t.Name))
			if strings.Contains(trigger, "notify_queue") { // pgmq's function also forgets its settings
				lines = append(lines, statement("select pgmq.disable_notify_insert(%s); -- as a superuser", literal(strings.TrimPrefix(t.Name, "q_"))))
				continue
			}
			lines = append(lines, statement("drop trigger %s on %s; -- as a superuser, if nobody needs it", ident(trigger), relation))
		}
	}
	return warn(lines, "%s", some(found)), nil
}

func lookWebhooks(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type webhook struct {
		Namespace, Name, Reason string
		Paused                  bool
	}
	rows, err := pool.Query(ctx, `select w.namespace, w.name, coalesce(w.paused_reason, 'since ' || pg_catalog.to_char(w.failing_since at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC'),
			w.paused_reason is not null
		  from core.webhook_status w
		 where w.paused_reason is not null or w.failing_since < core.now() - interval '1 hour'
		 order by 4 desc, 1, 2 limit 100`)
	if err != nil {
		return finding{}, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[webhook])
	if err != nil {
		return finding{}, err
	}
	if len(found) == 0 {
		return ok("none is paused for its failures, none has failed for an hour"), nil
	}
	lines := mend{advice("see what the receivers answer: nexus-node webhook list -n \"\"")}
	var said []string
	for _, w := range found {
		if !w.Paused {
			said = append(said, fmt.Sprintf("%s/%s fails %s", w.Namespace, w.Name, w.Reason))
			continue
		}
		said = append(said, fmt.Sprintf("%s/%s is paused: %s", w.Namespace, w.Name, w.Reason))
		lines = append(lines, statement("select core.resume_consumer('%s', '%s'); -- as a member of nexus_operator, once its receiver is back", w.Namespace, w.Name))
	}
	return warn(lines, "%s", some(said)), nil
}

// lagging is from when on a broadcast that a live node has not handled is worth a line.
const lagging = 5 * time.Minute

func lookBroadcasts(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	rows, err := pool.Query(ctx, `select c.namespace || '/' || c.node_id || ' ' || w.what
		  from core.broadcast_cursors c
		 cross join lateral (values
			(c.lag > $1::pg_catalog.interval and c.state in ('starting', 'active', 'draining'), 'has not handled a broadcast of ' || pg_catalog.date_trunc('second', c.lag) || ' ago'
				|| coalesce(': ' || pg_catalog.left(c.last_error, 100), '')),
			(c.missed_at > core.now() - interval '1 day', 'has missed ' || c.missed || ', which were removed by their age'),
			(c.reset_at > core.now() - interval '1 day', c.reset_reason)) w (is_so, what)
		 where w.is_so
		 order by 1 limit 100`, lagging.String())
	if err != nil {
		return finding{}, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return finding{}, err
	}
	if len(found) == 0 {
		return ok("no live node is %s behind, none has missed one for a day", lagging), nil
	}
	return warn(mend{
		advice("see what the handlers of that node are at: nexus-node node cursors -n \"\""),
		advice("a node that is to stay away for long needs a longer time: nexus-node namespace alter NAME --keep-broadcasts 72h"),
	}, "%s", some(found)), nil
}
