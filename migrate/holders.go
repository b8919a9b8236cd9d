package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
)

// lockTimedOut is what Postgres says when a lock did not come in time.
const lockTimedOut = "55P03"

// holder is who holds locks that the installer needs: a session, or a prepared transaction.
type holder struct {
	PID         int32 // 0: a prepared transaction
	Name        string
	Role        string
	Application string
	State       string
	Since       *time.Time // of its transaction
	Query       string
	Locks       []string
	Old         bool // its transaction began before the installer began to wait
	Waits       bool // for somebody else, and goes on with that one's end
}

func (h holder) String() string {
	var b strings.Builder
	if h.PID == 0 {
		fmt.Fprintf(&b, "prepared transaction %s of role %s", literal(h.Name), h.Role)
	} else {
		fmt.Fprintf(&b, "pid %d of role %s", h.PID, h.Role)
		if h.Application != "" {
			fmt.Fprintf(&b, ", application %s", literal(h.Application))
		}
		if h.State != "" {
			fmt.Fprintf(&b, ", %s", h.State)
		}
	}
	if h.Since != nil {
		fmt.Fprintf(&b, ", in its transaction since %s", h.Since.UTC().Format(time.RFC3339))
	}
	if len(h.Locks) > 0 {
		fmt.Fprintf(&b, ", holds %s", strings.Join(h.Locks, ", "))
	}
	if h.Query != "" {
		fmt.Fprintf(&b, "; its statement: %s", h.Query)
	}
	return b.String()
}

func (h holder) mend() string {
	if h.PID == 0 {
		return fmt.Sprintf("rollback prepared %s;", literal(h.Name))
	}
	return fmt.Sprintf("select pg_terminate_backend(%d);", h.PID)
}

func describe(holders []holder) string {
	if len(holders) == 0 {
		return "unknown, it is gone by now"
	}
	var all []string
	for _, h := range holders {
		all = append(all, h.String())
	}
	return strings.Join(all, "; and ")
}

// letGo is the hint: the holder of the lock ends, or is ended.
func letGo(holders []holder) string {
	if len(holders) == 0 {
		return "Run it again."
	}
	var ends []string
	for _, h := range holders {
		ends = append(ends, h.mend())
	}
	return "Let it end, or end it: " + strings.Join(ends, " ") + " Then run this again."
}

// holdersSQL finds who holds the lock of installers ($1 true), or locks on what the installer changes. A row that is locked shows by the lock
// on its table. What sessions do is for those to see who may: nexus_owner, where the installer gave it pg_read_all_stats.
const holdersSQL = `
with ours as materialized (
  select c.oid, c.oid::regclass::text as name
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
   where not $1 and n.nspname in ('core', 'core_node', 'core_private', 'pgmq', 'cron') and c.relkind in ('r', 'p', 'v', 'S')),
held as (
  select l.pid, l.virtualtransaction, l.mode, o.name,
         case when o.name is null then 'the lock of installers' else format('%s on %s', l.mode, o.name) end as what
    from pg_locks l
    left join ours o on l.locktype = 'relation' and o.oid = l.relation
   where l.granted and l.pid is distinct from pg_backend_pid()
     and l.database = (select d.oid from pg_database d where d.datname = current_database())
     and (o.oid is not null
          or $1 and l.locktype = 'advisory' and l.classid = $2::bigint::oid and l.objid = $3::bigint::oid and l.objsubid = 2))
select coalesce(h.pid, 0), coalesce(p.gid, ''), coalesce(a.usename::text, p.owner::text, 'another login'), coalesce(a.application_name, ''),
       coalesce(a.state, case when a.backend_type <> 'client backend' then a.backend_type end, ''), coalesce(a.xact_start, p.prepared),
       case when a.query = '<insufficient privilege>' then ''
            else left(regexp_replace(btrim(coalesce(a.query, '')), '\s+', ' ', 'g'), 120) end,
       (array_agg(distinct h.what order by h.what))[:3] || case when count(distinct h.what) > 3 then array[format('%s more', count(distinct h.what) - 3)] end,
       coalesce(coalesce(a.xact_start, p.prepared) <= $4, false),
       exists (select from pg_locks w where w.pid = h.pid and not w.granted)
  from held h
  left join pg_stat_activity a on a.pid = h.pid
  left join pg_locks t on h.pid is null and t.pid is null and t.locktype = 'transactionid' and t.virtualtransaction = h.virtualtransaction
  left join pg_prepared_xacts p on p.transaction = t.transactionid
 group by h.pid, p.gid, a.usename, p.owner, a.application_name, a.state, a.backend_type, a.xact_start, p.prepared, a.query
 order by coalesce(a.xact_start, p.prepared), h.pid
 limit 100`

// seeMoreSQL becomes nexus_owner where that sees more of other sessions.
const seeMoreSQL = `select set_config('role', 'nexus_owner', true) from pg_roles o
  where o.rolname = 'nexus_owner' and pg_has_role(o.oid, 'pg_read_all_stats', 'usage') and not pg_has_role('pg_read_all_stats', 'usage')
    and pg_has_role(o.oid, 'member')`

// holders are those who were there before the wait began; if none of them is left, those who are there now. Nil, if that cannot be found out.
func (tx *session) holders(ctx context.Context, installers bool, since time.Time) []holder {
	for _, prepare := range []string{seeMoreSQL, "select"} {
		all, err := tx.lookForHolders(ctx, prepare, installers, since)
		if err != nil {
			continue
		}
		if old := slices.DeleteFunc(slices.Clone(all), func(h holder) bool { return !h.Old }); len(old) > 0 {
			all = old
		}
		if first := slices.DeleteFunc(slices.Clone(all), func(h holder) bool { return h.Waits }); len(first) > 0 {
			all = first
		}
		return all[:min(len(all), 3)]
	}
	return nil
}

// lookForHolders leaves neither role nor lock behind.
func (tx *session) lookForHolders(ctx context.Context, prepare string, installers bool, since time.Time) ([]holder, error) {
	look, err := tx.tx.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = look.Rollback(ctx) }()
	if _, err := look.Exec(ctx, prepare); err != nil {
		return nil, err
	}
	rows, err := look.Query(ctx, holdersSQL, pgx.QueryExecModeExec, installers, int64(lockClass), int64(lockObject), since)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[holder])
}

// explain adds to an error by a lock that did not come in time who holds it. The transaction is over then.
func (tx *session) explain(ctx context.Context, waited time.Duration, err error) error {
	failed, ok := errors.AsType[*nexus.Error](err)
	if !ok || failed.Code != lockTimedOut {
		return err
	}
	conn := tx.tx.Conn()
	tx.rollback()
	look, beginning := begin(ctx, conn, pgx.ReadOnly)
	if beginning != nil {
		return err
	}
	defer look.rollback()
	var began time.Time
	if err := look.tx.QueryRow(ctx, "select clock_timestamp() - $1::text::interval", pgx.QueryExecModeExec, fmt.Sprintf("%d ms", waited.Milliseconds())).Scan(&began); err != nil {
		return failed
	}
	holders := look.holders(ctx, false, began)
	what := failed.Field
	if strings.HasPrefix(what, "do $") {
		what, failed.Field = "the tables that change", ""
	}
	failed.Message = fmt.Sprintf("%s: a lock did not come within %v. Held by %s", what, waited, describe(holders))
	failed.Hint = letGo(holders)
	return failed
}
