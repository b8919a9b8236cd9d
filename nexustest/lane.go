package nexustest

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/outbox"
)

// Lane is how one lane of an outbox queue stands.
type Lane struct {
	Lane    int
	Seq     int64  // messages that have ended
	Waiting int    // messages that have not
	Why     string // it does not go on; "": it does
}

// Lanes is how the lanes of an outbox queue stand, without those that never had a message.
func (e *Env) Lanes(queue string) []Lane {
	e.t.Helper()
	rows, err := e.db.Owner.Query(e.t.Context(), `
select lane, seq, lag::int, coalesce(why, '') from core.lane_status
 where namespace = $1 and queue = $2 and (seq > 0 or lag > 0) order by lane`, string(e.Namespace), queue)
	if err != nil {
		e.t.Fatalf("lanes of %s: %v", queue, err)
	}
	lanes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Lane])
	if err != nil {
		e.t.Fatalf("lanes of %s: %v", queue, err)
	}
	return lanes
}

// Drain has n work, and moves the clock to the next attempt at a message that has failed, until none of the queue waits or those that do go on at no
// time by themselves, since their lane is paused or has halted. It returns how many were handled. n has the processor by Add.
func (e *Env) Drain(n *node.Node, queue string) (took int) {
	e.t.Helper()
	for {
		before, _ := e.standing(queue)
		took += e.Work(n)
		after, next := e.standing(queue)
		switch {
		case after != before: // also where nothing was done: of several one had failed
		case next == nil:
			return took
		default:
			e.Advance(next.Sub(e.Now()))
		}
	}
}

// standing tells whether anything has happened in the lanes of a queue, and when the next attempt is due of those that wait for one.
func (e *Env) standing(queue string) (changes int64, next *time.Time) {
	e.t.Helper()
	err := e.db.Owner.QueryRow(e.t.Context(), `
select sum(l.ver)::bigint, min(s.next_at) filter (where s.state = 'active' and s.lag > 0)
  from core.lane_status s
 cross join lateral core_private.lane_now(s.lane_id) l
 where s.namespace = $1 and s.queue = $2`, string(e.Namespace), queue).Scan(&changes, &next)
	if err != nil {
		e.t.Fatalf("lanes of %s: %v", queue, err)
	}
	return changes, next
}

// Poison is a handler that does what fn does and then fails where bad says so: what fn wrote is undone, and the message holds up its lane until its
// attempts are used up.
func Poison(fn func(context.Context, pgx.Tx, *outbox.Item) error, bad func(*outbox.Item) error) func(context.Context, pgx.Tx, *outbox.Item) error {
	return func(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
		if err := fn(ctx, tx, m); err != nil {
			return err
		}
		return bad(m)
	}
}

// AssertOrder fails the test unless these bodies are those of a key's messages in a queue, in the order in which they were enqueued, dead letters
// left out. A handler writes down what it did, in a table or in a slice, and the test hands that over.
func (e *Env) AssertOrder(queue, key string, bodies []string) {
	e.t.Helper()
	rows, err := e.db.Owner.Query(e.t.Context(), `
select convert_from(m.body, 'UTF8')
  from core_private.lane_messages m
  join core.lane_status s on s.lane_id = m.lane_id
 where s.namespace = $1 and s.queue = $2 and m.key = $3
   and not exists (select from core.dead_letters d where d.source_kind = 'lane' and (d.source_ref ->> 'messageId')::bigint = m.id)
 order by m.id`, string(e.Namespace), queue, key)
	if err != nil {
		e.t.Fatalf("order of %s: %v", queue, err)
	}
	want, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		e.t.Fatalf("order of %s: %v", queue, err)
	}
	if !slices.Equal(bodies, want) {
		e.t.Errorf("key %s of %s: handled %q, enqueued %q", key, queue, bodies, want)
	}
}
