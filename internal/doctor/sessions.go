package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// sessions are the checks of what else goes on in the server, and of what lies between it and us.
var sessions = []probe{
	{name: "xmin horizon", why: "while it is held dead rows stay, and every claim walks past them", look: lookHorizon},
	{name: "locks", why: "sweeps pass over a queue that somebody has locked, and its events wait", look: lookLocks},
	{name: "dead rows", why: "queues turn over all their rows; without autovacuum they grow and slow down", look: lookDeadRows},
	{name: "wake-ups", why: "without them events are found by polling, up to a second later", look: lookWakeUps},
	{name: "clock", why: "times that people write are judged by the database's clock", look: lookClock},
	{name: "publications", why: "FOR ALL TABLES also publishes the queues: every message is decoded several times for nobody", look: lookPublications},
	{name: "stuck leases", why: "a message that is hidden for long is held by nobody who could finish it, and its event waits", rows: true, look: lookLeases},
	{name: "last fetch", why: "a node can send heartbeats and yet take no events", rows: true, look: lookFetch},
}

// ofSuperuser tells the sessions that only a superuser may end, those of no login among them.
const ofSuperuser = `not exists (select from pg_catalog.pg_roles r where r.rolname::text = role_name and not r.rolsuper)`

func endSession(pid int, super bool) string {
	if super {
		return statement("select pg_terminate_backend(%d); -- as a superuser", pid)
	}
	return statement("select pg_terminate_backend(%d); -- as a member of pg_signal_backend", pid)
}

const horizonFor = 5 * time.Minute

func lookHorizon(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type blocker struct {
		Kind, Name, Role, Application, State string
		PID                                  int
		Age                                  *time.Duration
		XminAge                              int64
		Super                                bool
	}
	held, err := records[blocker](ctx, pool, `select kind, coalesce(name, ''), coalesce(role_name, ''), coalesce(application, ''), coalesce(state, ''),
		coalesce(pid, 0), age, coalesce(xmin_age, 0), `+ofSuperuser+` from core.blockers where kind <> 'lock'`)
	if err != nil {
		return finding{}, err
	}
	if len(held) == 0 {
		return ok("held by nobody"), nil
	}
	var found []string
	var lines mend
	for _, b := range held {
		if b.Kind == "not visible" {
			return unknown(mend{statement("grant pg_read_all_stats to nexus_owner; -- as a superuser")},
				"not visible: nexus_owner may not see the sessions of others"), nil
		}
		young := b.Age != nil && *b.Age < horizonFor
		if young || b.Age == nil && b.XminAge < 100_000 {
			continue
		}
		who := strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s", b.Kind, b.Name, b.Role, b.Application)), " ")
		if b.PID != 0 {
			who += fmt.Sprintf(", pid %d", b.PID)
		}
		if b.State != "" {
			who += ", " + b.State
		}
		since := fmt.Sprintf("%d transactions ago", b.XminAge)
		if b.Age != nil {
			since = "for " + b.Age.Round(time.Second).String()
		}
		found = append(found, who+", "+since)
		switch b.Kind {
		case "prepared transaction":
			lines = append(lines, statement("rollback prepared %s; -- as its owner or a superuser; or commit it", literal(b.Name)))
		case "replication slot":
			lines = append(lines, statement("select pg_drop_replication_slot(%s); -- as a superuser, or with REPLICATION; if nobody reads it any more", literal(b.Name)))
		case "standby":
			lines = append(lines, advice("end the query on that standby, which hot_standby_feedback passes on to here"))
		default:
			lines = append(lines, endSession(b.PID, b.Super))
		}
	}
	if len(found) == 0 {
		return ok("held by no one for long"), nil
	}
	return warn(lines, "held by %s", some(found)), nil
}

const lockedFor = 10 * time.Second

// lookLocks names who holds for longer what Nexus waits for. Its own sessions take locks, too, but not for long.
func lookLocks(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type holder struct {
		PID                      int
		Role, Application, Locks string
		Age                      time.Duration
		Super                    bool
	}
	holders, err := records[holder](ctx, pool, `select pid, coalesce(role_name, ''), coalesce(application, ''), name, age, `+ofSuperuser+` from core.blockers
		where kind = 'lock' and age > $1 order by age desc`, lockedFor)
	if err != nil {
		return finding{}, err
	}
	if len(holders) == 0 {
		var blind bool
		if err := pool.QueryRow(ctx, `select exists (select from core.blockers where kind = 'not visible')`).Scan(&blind); err != nil {
			return finding{}, err
		}
		if blind {
			return unknown(mend{advice(`see the check "xmin horizon"`)}, "not visible: nexus_owner may not see the sessions of others"), nil
		}
		return ok("nobody holds one for long"), nil
	}
	var found []string
	var lines mend
	for _, h := range holders {
		lines = append(lines, endSession(h.PID, h.Super))
		who := strings.Join(strings.Fields(h.Role+" "+h.Application), " ")
		found = append(found, fmt.Sprintf("%s, pid %d, for %s: %s", who, h.PID, h.Age.Round(time.Second), h.Locks))
	}
	return warn(lines, "%s", some(found)), nil
}

// lookDeadRows wants more dead rows than live ones, and many: between two runs of autovacuum there are always some.
func lookDeadRows(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	var autovacuum bool
	if err := pool.QueryRow(ctx, `select pg_catalog.current_setting('autovacuum')::bool`).Scan(&autovacuum); err != nil {
		return finding{}, err
	}
	if !autovacuum {
		return broken(mend{
			statement("alter system set autovacuum = on; -- as a superuser"), statement("select pg_reload_conf(); -- as a superuser"),
		}, "autovacuum is off"), nil
	}
	type table struct {
		Name string
		Dead int64
		Last *time.Time
	}
	tables, err := records[table](ctx, pool, `select pg_catalog.format('%I.%I', s.schemaname, s.relname), s.n_dead_tup, greatest(s.last_autovacuum, s.last_vacuum)
		  from pg_catalog.pg_stat_all_tables s
		 where (s.schemaname in ('core', 'core_node', 'core_private') or s.schemaname = 'pgmq' and pg_catalog.starts_with(s.relname, 'q_core_events_'))
		   and s.n_dead_tup > 50000 and s.n_dead_tup > s.n_live_tup
		 order by s.n_dead_tup desc limit 20`)
	if err != nil {
		return finding{}, err
	}
	if len(tables) == 0 {
		return ok("autovacuum keeps up"), nil
	}
	var found []string
	lines := mend{advice(`see the check "xmin horizon"; then:`)}
	for _, t := range tables {
		found = append(found, fmt.Sprintf("%s has %d", t.Name, t.Dead))
		lines = append(lines, statement("vacuum %s; -- as a superuser", t.Name))
	}
	return warn(lines, "%s", some(found)), nil
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
	return warn(mend{advice("connect nodes to the server itself, or to a pool in session mode")}, "no notification came back: a pooler in transaction mode?"), nil
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
		return warn(mend{advice("let both machines follow NTP")}, "this machine and the server differ by %s", off.Abs().Round(time.Millisecond)), nil
	}
	return ok("this machine and the server agree"), nil
}

func lookPublications(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	names, err := column(ctx, pool, `select pubname::text from pg_catalog.pg_publication where puballtables order by 1 limit 20`)
	if err != nil {
		return finding{}, err
	}
	if len(names) > 0 {
		lines := mend{advice("make publications that name the tables or schemas that are meant; then:")}
		for _, n := range names {
			lines = append(lines, statement("drop publication %s; -- as a superuser", ident(n)))
		}
		return warn(lines, "for all tables: %s", some(names)), nil
	}
	return ok("none is for all tables"), nil
}

// lookLeases finds messages that are hidden for longer than any lease Nexus gives, by somebody's pgmq.read or set_vt. It looks at
// the oldest of each queue, which is where they are.
func lookLeases(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	stuck, err := column(ctx, pool, `select q.queue_name || ' ' || p.msg_id
		  from (select q.queue_name from core.queues q
		         where q.consumer_id is not null
		           and not exists (select from core.lost_queues l where l.queue_name = q.queue_name and 'queue' = any (l.missing)) offset 0) q
		 cross join lateral core.peek(q.queue_name, 100) p
		 where p.state = 'in_flight' and p.vt > (select core.now()) + interval '1 hour'
		 order by 1 limit 100`)
	if err != nil {
		return finding{}, err
	}
	if len(stuck) > 0 {
		var lines mend
		for _, s := range stuck {
			queue, id, _ := strings.Cut(s, " ")
			lines = append(lines, statement("select pgmq.set_vt(%s, %s::bigint, 0); -- as a member of nexus_operator", literal(queue), id))
		}
		return warn(lines, "hidden for more than an hour: %s", some(stuck)), nil
	}
	return ok("none"), nil
}

func lookFetch(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type node struct{ Namespace, ID string }
	deaf, err := records[node](ctx, pool, `select namespace, node_id from core.node_status
		where alive and state = 'active' and (metadata ->> 'fetch_age_seconds')::float8 > 60 order by node_id limit 100`)
	if err != nil {
		return finding{}, err
	}
	if len(deaf) > 0 {
		var found []string
		lines := mend{advice("see the log of each; what started its process starts it again after:")}
		for _, n := range deaf {
			found = append(found, n.ID)
			lines = append(lines, command("nexus-node node drain %s -n %s --wait 1m # as a member of nexus_operator", quoted(n.ID), quoted(n.Namespace)))
		}
		return broken(lines, "no answer to a claim for a minute: %s", some(found)), nil
	}
	return ok("each node that is alive fetches"), nil
}
