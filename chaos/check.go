package main

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
)

//go:embed history.sql
var historySQL string

// breach is an invariant that does not hold, of one event or of none.
type breach struct {
	kind    string // lost, doubled, ghost, wrongly dead, …
	uid     uuid.UUID
	detail  string
	history string // of the event, told in order
}

func (b breach) String() string {
	text := fmt.Sprintf("%s: %s", b.kind, b.detail)
	if b.uid != uuid.Nil {
		text = fmt.Sprintf("%s: event %s: %s", b.kind, b.uid, b.detail)
	}
	if b.history != "" {
		text += "\n" + b.history
	}
	return text
}

// The kinds of breaches that the summary counts.
const (
	kindLost     = "lost"
	kindDoubled  = "doubled"
	kindGhost    = "ghost"
	kindDead     = "wrongly dead"
	kindAttempts = "attempts"
	kindReplays  = "replays"
	kindSlot     = "slots"
	kindOneShot  = "one-shots"
	kindHistory  = "history of failures"
	kindCount    = "counts"
)

// slack is how many reads of a dead letter may lie outside of what the journal tells: a process can die between a claim and the call of
// the handler, and an answer to a claim can be lost. What has been read without an answer goes alone from then on, so there are few.
const slack = 2

// invariants are asked of the namespaces of a round ($1), once all has come to rest. Each row is a breach: an event, and what is wrong.
var invariants = []struct{ kind, sql string }{
	// Log and ledger.
	{kindLost, `select e.uid, 'was committed and is not in the event log' from chaos.emitted e
		where e.ns = any ($1) and e.how <> 'one-shot' and not exists (select from core.event_log l where l.event_uid = e.uid and l.namespace = e.ns)`},
	{kindGhost, `select l.event_uid, 'is in the event log, and nobody committed it' from core.event_log l
		where l.namespace = any ($1) and l.scheduled_task_id is null and not exists (select from chaos.emitted e where e.uid = l.event_uid)`},
	{kindDoubled, `select l.event_uid, format('is in the event log %s times', count(*)) from core.event_log l
		where l.namespace = any ($1) group by l.event_uid having count(*) > 1`},
	{kindDoubled, `select (array_agg(e.uid))[1], format('key %s stands for %s events', e.key, count(distinct e.uid)) from chaos.emitted e
		where e.ns = any ($1) and e.key is not null group by e.ns, e.key having count(distinct e.uid) > 1 or count(*) filter (where not e.duplicate) <> 1`},

	// Effects.
	{kindLost, `select l.event_uid, 'has neither an effect nor a dead letter' from core.event_log l
		where l.namespace = any ($1) and not exists (select from chaos.effects f where f.uid = l.event_uid)
		  and not exists (select from core.unresolved_dead_letters d where d.event_uid = l.event_uid)`},
	{kindGhost, `select f.uid, 'has an effect, and is not in the event log' from chaos.effects f
		where f.ns = any ($1) and not exists (select from core.event_log l where l.event_uid = f.uid)`},
	{kindDoubled, `select f.uid, format('has %s effects', count(*)) from chaos.effects f
		where f.ns = any ($1) and f.type not like 'leased.%' group by f.uid having count(*) > 1`},
	{kindDoubled, `select f.uid, format('has %s effects of %s calls', count(*), (select count(*) from chaos.journal j where j.uid = f.uid and j.kind = 'begin'))
		  from chaos.effects f where f.ns = any ($1) and f.type like 'leased.%'
		 group by f.uid having count(*) > (select count(*) from chaos.journal j where j.uid = f.uid and j.kind = 'begin')`},
	{kindGhost, `select f.uid, 'was to have no effect' from chaos.effects f join chaos.emitted e on e.uid = f.uid
		where f.ns = any ($1) and e.want <> 'effect'`},
	{kindDoubled, `select d.event_uid, 'has an effect, and is a dead letter' from core.unresolved_dead_letters d
		where d.namespace = any ($1) and d.event_type not like 'leased.%' and exists (select from chaos.effects f where f.uid = d.event_uid)`},

	// Attempts, and dead letters.
	{kindAttempts, `select f.uid, format('has an effect at attempt %s, and of those before %s are explained', f.attempt, x.explained) from chaos.effects f
		cross join lateral (` + explained("f.uid", "f.msg_id", "f.attempt - 1") + `) x
		where f.ns = any ($1) and f.attempt - 1 - x.explained > $2`},
	{kindDead, `select d.event_uid, format('is a dead letter (%s) after %s attempts, of which %s are explained', d.reason, d.attempts, x.explained)
		  from core.dead_letters d left join chaos.emitted e on e.uid = d.event_uid and not e.duplicate
		 cross join lateral (` + explained("d.event_uid", "d.msg_id", "d.attempts") + `) x
		 where d.namespace = any ($1) and d.source_kind = 'delivery'
		   and (d.attempts - x.explained > $2
		        or d.reason <> all (array['error', 'panic', 'timeout', 'commit', 'not acknowledged (process lost)', coalesce(e.want, '')]))`},
	{kindDead, `select e.uid, 'was to become a dead letter (' || e.want || '), and did not' from chaos.emitted e
		where e.ns = any ($1) and e.want <> 'effect' and not e.duplicate and exists (select from core.event_log l where l.event_uid = e.uid)
		  and not exists (select from core.dead_letters d where d.event_uid = e.uid)`},
	{kindDoubled, `select d.event_uid, format('has %s dead letters that nobody resolved', count(*)) from core.unresolved_dead_letters d
		where d.namespace = any ($1) group by d.event_uid having count(*) > 1`},

	// The history of failures.
	{kindHistory, `select (array_agg(h.event_uid))[1], format('has %s rows of failure for attempt %s of message %s', count(*), h.attempt, h.msg_id) from core.delivery_errors h
		where h.namespace = any ($1) group by h.queue_name, h.msg_id, h.attempt having count(*) > 1`},
	{kindHistory, `select h.event_uid, format('attempt %s failed (%s), and no handler had it', h.attempt, h.error) from core.delivery_errors h
		where h.namespace = any ($1) and h.action = 'retry'
		  and not exists (select from chaos.journal j where j.uid = h.event_uid and j.msg_id = h.msg_id and j.attempt = h.attempt)`},

	// Replays: what people were told was done is what was done.
	{kindReplays, `select null, format('the audit log tells of %s replays, and %s dead letters were replayed', a.n, d.n)
		  from (select coalesce(sum((l.details ->> 'done')::int), 0) as n from core.audit_log l where l.action like 'replay%' and l.namespace = any ($1)) a,
		       (select count(*) as n from core.dead_letters l where l.namespace = any ($1) and l.resolution = 'replayed') d
		 where a.n <> d.n`},

	// Schedules.
	{kindSlot, `select (array_agg(l.event_uid))[1], format('slot %s of a task fired %s times', l.slot, count(*)) from core.event_log l
		where l.namespace = any ($1) and l.slot is not null group by l.scheduled_task_id, l.slot having count(*) > 1`},
	{kindSlot, `select coalesce(l.event_uid, s.event_uid), format('slot %s: the ledger says %s, the log has %s', coalesce(l.slot, s.slot), s.event_uid, l.event_uid)
		  from (select * from core.task_slots s where s.namespace = any ($1) and s.event_uid is not null) s
		  full join (select * from core.event_log l where l.namespace = any ($1) and l.slot is not null) l on l.scheduled_task_id = s.task_id and l.slot = s.slot
		 where l.event_uid is distinct from s.event_uid`},
	{kindOneShot, `select o.id, format('was scheduled for %s (%s) and is in the log %s times, since %s', o.fire_at, coalesce(o.outcome, 'not cancelled'), count(l.event_uid), min(l.emitted_at))
		  from chaos.oneshots o left join core.event_log l on l.event_uid = o.id
		 where o.ns = any ($1) group by o.id, o.fire_at, o.outcome
		having count(l.event_uid) <> case when o.outcome = 'cancelled' then 0 else 1 end or min(l.emitted_at) < o.fire_at - interval '1 millisecond'`},

	// What users are shown.
	{kindCount, `select null, format('%s: length %s, in flight %s, delayed %s, parked %s, and %s dead letters', m.queue_name, m.queue_length, m.in_flight, m.delayed, m.parked, d.n)
		  from core.queue_metrics m join core.queues q using (queue_name)
		 cross join lateral (select count(*) as n from core.unresolved_dead_letters d where d.namespace = q.namespace) d
		 where q.namespace = any ($1)
		   and (m.delayed + m.parked > 0 or m.queue_length <> case when q.consumer_id is null then d.n else 0 end or q.consumer_id is not null and m.in_flight > 0)`},
}

// explained counts those of a message's first attempts that the journal explains: its handler failed, or killed the process; the process
// died of something else than a neighbour while it had the event; or the lease could not be renewed. At repeatable read and serializable
// the commit of a handler that went well may fail, which counts as the handler's, and nobody but the history of failures knows.
func explained(uid, msgID, attempts string) string {
	return fmt.Sprintf(`
		select count(*) as explained from generate_series(1, %[3]s) a(n)
		 where exists (
		       select from chaos.journal j
		        where j.uid = %[1]s and j.msg_id = %[2]s and j.attempt = a.n
		          and (j.kind = 'kill' or j.kind = 'end' and j.verdict in ('failed', 'retry', 'reject', 'broken')
		               or j.kind = 'begin' and (
		                  not exists (select from chaos.journal z
		                               where z.uid = j.uid and z.pid = j.pid and z.attempt = j.attempt and z.kind <> 'begin' and z.at >= j.at)
		                      and exists (select from chaos.deaths k where k.pid = j.pid and k.at >= j.at and k.why in ('killed', 'hung', 'stopped'))
		                  or exists (select from chaos.journal z
		                              where z.uid = j.uid and z.pid = j.pid and z.attempt = j.attempt and z.kind = 'end' and z.at > j.at + interval '1 second')
		                  or exists (select from chaos.troubles t
		                              where coalesce(t.pid, j.pid) = j.pid and t.to_time >= j.at and t.from_time < j.at + interval '5 seconds'))
		               or j.kind = 'end' and exists (
		                      select from core.delivery_errors h
		                       where h.event_uid = j.uid and h.msg_id = j.msg_id and h.attempt = j.attempt and h.reason = 'commit'
		                         and h.error like '%%[40001]' and h.failed_at >= j.at)))`,
		uid, msgID, attempts)
}

// check asks for every invariant. The histories of the first few of each are told.
func check(ctx context.Context, pool *pgxpool.Pool, namespaces []nexus.Namespace) ([]breach, error) {
	var all []breach
	for _, i := range invariants {
		args := []any{namespaces}
		if strings.Contains(i.sql, "$2") {
			args = append(args, slack)
		}
		rows, err := pool.Query(ctx, i.sql, args...)
		if err != nil {
			return nil, fmt.Errorf("%w in %s", err, i.sql)
		}
		found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (breach, error) {
			b := breach{kind: i.kind}
			var uid *uuid.UUID
			err := row.Scan(&uid, &b.detail)
			if uid != nil {
				b.uid = *uid
			}
			return b, err
		})
		if err != nil {
			return nil, fmt.Errorf("%w in %s", err, i.sql)
		}
		const told = 2
		for n := range min(told, len(found)) {
			if found[n].history, err = history(ctx, pool, found[n].uid); err != nil {
				return nil, err
			}
		}
		all = append(all, found...)
	}
	return all, nil
}

// history is all that is known of an event.
func history(ctx context.Context, pool *pgxpool.Pool, uid uuid.UUID) (string, error) {
	if uid == uuid.Nil {
		return "", nil
	}
	rows, err := pool.Query(ctx, historySQL, uid)
	if err != nil {
		return "", err
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return "    " + strings.Join(lines, "\n    "), err
}
