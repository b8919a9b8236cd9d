package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// sessions are the checks of what else goes on in the server, and of what lies between it and us.
var sessions = []probe{
	{name: "xmin horizon", why: "while it is held dead rows stay, and every claim walks past them", look: lookHorizon},
	{name: "dead rows", why: "queues turn over all their rows; without autovacuum they grow and slow down", look: lookDeadRows},
	{name: "wake-ups", why: "without them events are found by polling, up to a second later", look: lookWakeUps},
	{name: "clock", why: "times that people write are judged by the database's clock", look: lookClock},
	{name: "publications", why: "FOR ALL TABLES also publishes the queues: every message is decoded several times for nobody", look: lookPublications},
	{name: "stuck leases", why: "a message that is hidden for long is held by nobody who could finish it, and its event waits", look: lookLeases},
	{name: "last fetch", why: "a node can send heartbeats and yet take no events", look: lookFetch},
}

const horizonFor = 5 * time.Minute

func lookHorizon(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type blocker struct {
		Kind, Name, Role, Application, State string
		PID                                  int
		Age                                  *time.Duration
		XminAge                              int64
	}
	rows, err := pool.Query(ctx, `select kind, coalesce(name, ''), coalesce(role_name, ''), coalesce(application, ''), coalesce(state, ''),
		coalesce(pid, 0), age, coalesce(xmin_age, 0) from core.blockers limit 1`)
	if err != nil {
		return finding{}, err
	}
	held, err := pgx.CollectRows(rows, pgx.RowToStructByPos[blocker])
	if err != nil {
		return finding{}, err
	}
	if len(held) == 0 {
		return ok("held by nobody"), nil
	}
	b := held[0]
	if b.Kind == "not visible" {
		return warn("grant pg_read_all_stats to nexus_owner;", "not visible: nexus_owner may not see the sessions of others"), nil
	}
	who := strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s", b.Kind, b.Name, b.Role, b.Application)), " ")
	if b.PID != 0 {
		who += fmt.Sprintf(", pid %d", b.PID)
	}
	if b.State != "" {
		who += ", " + b.State
	}
	young := b.Age != nil && *b.Age < horizonFor
	if young || b.Age == nil && b.XminAge < 100_000 {
		return ok("held by no one for long"), nil
	}
	since := fmt.Sprintf("%d transactions ago", b.XminAge)
	if b.Age != nil {
		since = "for " + b.Age.Round(time.Second).String()
	}
	mend := fmt.Sprintf("select pg_terminate_backend(%d);", b.PID)
	switch b.Kind {
	case "prepared transaction":
		mend = "rollback prepared " + literal(b.Name) + ";"
	case "replication slot":
		mend = "select pg_drop_replication_slot(" + literal(b.Name) + "); -- if nobody reads it any more"
	}
	return warn(mend, "held by %s, %s", who, since), nil
}

// lookDeadRows wants more dead rows than live ones, and many: between two runs of autovacuum there are always some.
func lookDeadRows(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	var autovacuum bool
	if err := pool.QueryRow(ctx, `select pg_catalog.current_setting('autovacuum')::bool`).Scan(&autovacuum); err != nil {
		return finding{}, err
	}
	if !autovacuum {
		return broken("alter system set autovacuum = on; select pg_reload_conf();", "autovacuum is off"), nil
	}
	type table struct {
		Name string
		Dead int64
		Last *time.Time
	}
	rows, err := pool.Query(ctx, `select s.schemaname || '.' || s.relname, s.n_dead_tup, greatest(s.last_autovacuum, s.last_vacuum)
		  from pg_catalog.pg_stat_all_tables s
		 where (s.schemaname in ('core', 'core_private') or s.schemaname = 'pgmq' and pg_catalog.starts_with(s.relname, 'q_core_events_'))
		   and s.n_dead_tup > 50000 and s.n_dead_tup > s.n_live_tup
		 order by s.n_dead_tup desc limit 20`)
	if err != nil {
		return finding{}, err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[table])
	if err != nil {
		return finding{}, err
	}
	if len(tables) == 0 {
		return ok("autovacuum keeps up"), nil
	}
	var found []string
	for _, t := range tables {
		found = append(found, fmt.Sprintf("%s has %d", t.Name, t.Dead))
	}
	return warn("see the xmin horizon, above; then: vacuum "+tables[0].Name+";", "%s", some(found)), nil
}

// lookWakeUps sends itself a notification. A pooler in transaction mode gives each statement another server session, and then
// none arrives.
func lookWakeUps(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return finding{}, err
	}
	defer conn.Release()
	const channel = "nexus_doctor"
	if _, err := conn.Exec(ctx, "listen "+channel); err != nil {
		return finding{}, err
	}
	defer func() { _, _ = conn.Exec(context.WithoutCancel(ctx), "unlisten "+channel) }()
	begun := time.Now()
	if _, err := pool.Exec(ctx, "select pg_catalog.pg_notify($1::text, '')", channel); err != nil {
		return finding{}, err
	}
	wait, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	_, err = conn.Conn().WaitForNotification(wait)
	switch {
	case err == nil:
		return ok("a notification came back after %s", time.Since(begun).Round(100*time.Microsecond)), nil
	case ctx.Err() != nil:
		return finding{}, ctx.Err()
	}
	return warn("connect nodes to the server itself, or to a pool in session mode", "no notification came back: a pooler in transaction mode?"), nil
}

const clockOff = 2 * time.Second

// lookClock compares this machine's clock with the server's, and takes half of the round trip off.
func lookClock(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	var there time.Time
	before := time.Now()
	if err := pool.QueryRow(ctx, "select pg_catalog.clock_timestamp()").Scan(&there); err != nil {
		return finding{}, err
	}
	took := time.Since(before)
	off := there.Sub(before.Add(took / 2))
	if off.Abs() > clockOff+took {
		return warn("let both machines follow NTP", "this machine and the server differ by %s", off.Abs().Round(time.Millisecond)), nil
	}
	return ok("this machine and the server agree"), nil
}

func lookPublications(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	rows, err := pool.Query(ctx, `select pubname::text from pg_catalog.pg_publication where puballtables order by 1 limit 20`)
	if err != nil {
		return finding{}, err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return finding{}, err
	}
	if len(names) > 0 {
		return warn("name the tables or schemas: create publication … for tables in schema …; then drop publication "+ident(names[0])+";",
			"for all tables: %s", some(names)), nil
	}
	return ok("none is for all tables"), nil
}

// lookLeases finds messages that are hidden for longer than any lease Nexus gives, by somebody's pgmq.read or set_vt. It looks at
// the oldest of each queue, which is where they are.
func lookLeases(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	rows, err := pool.Query(ctx, `select q.queue_name || ' ' || p.msg_id
		  from core.queues q cross join lateral core.peek(q.queue_name, 100) p
		 where q.consumer_id is not null and p.state = 'in flight' and p.vt > (select core.now()) + interval '1 hour'
		 order by 1 limit 100`)
	if err != nil {
		return finding{}, err
	}
	stuck, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return finding{}, err
	}
	if len(stuck) > 0 {
		queue, id, _ := strings.Cut(stuck[0], " ")
		return warn(fmt.Sprintf("select pgmq.set_vt(%s, %s::bigint, 0);", literal(queue), id), "hidden for more than an hour: %s", some(stuck)), nil
	}
	return ok("none"), nil
}

func lookFetch(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	rows, err := pool.Query(ctx, `select node_id from core.node_status
		where alive and state = 'active' and (metadata ->> 'fetch_age_seconds')::float8 > 60 order by node_id limit 100`)
	if err != nil {
		return finding{}, err
	}
	deaf, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return finding{}, err
	}
	if len(deaf) > 0 {
		return broken("nexus-node node drain "+deaf[0]+"; and see its log", "no answer to a claim for a minute: %s", some(deaf)), nil
	}
	return ok("each node that is alive fetches"), nil
}
