// Package member is a node as the database knows it: who it is, that it lives, what wakes it, and the upkeep that any node may do.
package member

import (
	"context"
	"crypto/md5" //nolint:gosec // see DrainKey
	"encoding/hex"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/work"
)

// Member is a node as the database knows it: who it is, that it lives, and the upkeep that any node may do.
type Member struct {
	Pool      *pgxpool.Pool
	Namespace nexus.Namespace
	Wanted    string // the id to register under
	Given     bool   // the id is refused if another live node has it; else it gets a number

	id          atomic.Pointer[string]
	incarnation atomic.Pointer[uuid.UUID]
	every       atomic.Int64
	answered    atomic.Int64 // when the last heartbeat was, in nanoseconds since 1970
}

// A server that hangs must not hold up what a node does for long; each call ends by these, and is tried again.
const (
	heartbeatTimeout = 10 * time.Second
	promoteTimeout   = 30 * time.Second
	tickTimeout      = 10 * time.Minute // upkeep of partitions may wait for locks
)

// ID is the id that the node is registered under, before that the wanted one.
func (m *Member) ID() string {
	if id := m.id.Load(); id != nil {
		return *id
	}
	return m.Wanted
}

// Every is the time between heartbeats.
func (m *Member) Every() time.Duration { return time.Duration(m.every.Load()) }

// Process reads into process what the node that has the wanted id said about its process, and returns its incarnation; "" if no node of
// this login has it.
func (m *Member) Process(ctx context.Context, process any) (incarnation string, err error) {
	var id *string
	var raw []byte
	err = db.Call(ctx, m.Pool, "node_process", `select incarnation::text, process::text from core_node.node_process($1::text, $2::text)`,
		[]any{string(m.Namespace), m.ID()}, &id, &raw)
	if err != nil || id == nil || raw == nil || json.Unmarshal(raw, process) != nil {
		return "", err
	}
	return *id, nil
}

// Incarnation is the life that the node is registered as; none before that.
func (m *Member) Incarnation() uuid.UUID {
	if inc := m.incarnation.Load(); inc != nil {
		return *inc
	}
	return uuid.Nil
}

// Register makes the node known, as a new incarnation, with the event types that it can handle. What else it can do is told by Replace.
func (m *Member) Register(ctx context.Context, can work.Abilities, info map[string]any) error {
	raw, err := json.Marshal(info)
	if err != nil {
		return err
	}
	var id string
	var incarnation uuid.UUID
	var seconds float64
	err = db.Call(ctx, m.Pool, "register_node",
		`select node_id, incarnation, extract(epoch from heartbeat_every)::float8
from core_node.register_node($1::text, $2::text, $3::bool, $4::text[], $5::text::jsonb, $6::text[])`,
		[]any{string(m.Namespace), m.Wanted, m.Given, all(can.Types), string(raw), all(can.Consumers)}, &id, &incarnation, &seconds)
	if err != nil {
		return err
	}
	m.id.Store(&id)
	m.incarnation.Store(&incarnation)
	m.every.Store(int64(seconds * float64(time.Second)))
	m.answered.Store(time.Now().UnixNano())
	return nil
}

// all is list as an array that is not null.
func all(list []string) []string { return append([]string{}, list...) }

// Replace says what the node can do from now on, in place of what it said before. known is false when the node must register anew.
func (m *Member) Replace(ctx context.Context, can work.Abilities) (known bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	err = db.Call(ctx, m.Pool, "replace_capabilities",
		`select core_node.replace_capabilities($1::text, $2::text::uuid, $3::text[], $4::text[], $5::text[], $6::text[])`,
		[]any{m.ID(), m.Incarnation().String(), all(can.Types), all(can.Consumers), all(can.Workflows), all(can.Queues)}, &known)
	return known, err
}

// Heartbeat reports whether the database still knows this incarnation, if not the node must register anew, and whether somebody
// asked it to drain. fetched is when the loop last got an answer; it is sent as an age, since clocks differ.
func (m *Member) Heartbeat(ctx context.Context, state string, fetched time.Time) (known, drain bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	now := time.Now()
	info := map[string]any{"clock": now.UTC().Format(time.RFC3339Nano)}
	if !fetched.IsZero() {
		info["fetch_age_seconds"] = max(now.Sub(fetched), 0).Seconds()
	}
	raw, err := json.Marshal(info)
	if err != nil {
		return false, false, err
	}
	err = db.Call(ctx, m.Pool, "heartbeat",
		`select core_node.heartbeat($1::text, $2::text::uuid, $3::text, $4::text::jsonb), core_node.must_drain($1::text, $2::text::uuid)`,
		[]any{m.ID(), m.Incarnation().String(), state, string(raw)}, &known, &drain)
	if err == nil {
		m.answered.Store(time.Now().UnixNano())
	}
	return known, drain, err
}

// DrainKey is the key by which this node is told on the wake channel that it was asked to drain.
func (m *Member) DrainKey() string {
	sum := md5.Sum([]byte(m.ID())) //nolint:gosec // as in core.drain_node: a short name, not a secret
	return "drain:" + hex.EncodeToString(sum[:])
}

// LastHeartbeat is when the database last answered one, or answered the registration.
func (m *Member) LastHeartbeat() time.Time { return time.Unix(0, m.answered.Load()) }

// Sample is what the database knows about the namespace's queues, counted anew if that was longer ago than maxAge.
func (m *Member) Sample(ctx context.Context, maxAge time.Duration) (sample []byte, err error) {
	err = db.Call(ctx, m.Pool, "metrics_sample", `select core_node.metrics_sample($1::text, $2::text::interval)::text`,
		[]any{string(m.Namespace), db.Interval(maxAge)}, &sample)
	return sample, err
}

// Consumer returns the physical queue of a consumer and the attempts that its policy allows, -1 for any number.
func (m *Member) Consumer(ctx context.Context, name string) (queue string, maxAttempts int, err error) {
	err = db.Call(ctx, m.Pool, "consumer_settings", `select queue_name, max_attempts from core_node.consumer_settings($1::text, $2::text)`,
		[]any{string(m.Namespace), name}, &queue, &maxAttempts)
	return queue, maxAttempts, err
}

// RequireRouted has a routed consumer made if it is missing.
func (m *Member) RequireRouted(ctx context.Context, name string) error {
	return db.Do(ctx, m.Pool, "require_routed", `core_node.require_routed($1::text, $2::text)`, string(m.Namespace), name)
}

// IdleLimit is how long the server lets a session of pool sit idle in a transaction, zero for any time.
func IdleLimit(ctx context.Context, pool *pgxpool.Pool) (time.Duration, error) {
	var ms int64
	err := db.Call(ctx, pool, "settings",
		`select setting::int8 from pg_catalog.pg_settings where name = 'idle_in_transaction_session_timeout'`, nil, &ms)
	return time.Duration(ms) * time.Millisecond, err
}

// Promote moves deliveries that have become due to their queues, as often as there are some, and returns how many, and how long it is
// until the next one is due: a long time if none waits. When that is not soon, one that is due before calls by the key of the timers.
func (m *Member) Promote(ctx context.Context) (moved int, next time.Duration, err error) {
	for {
		n, next, err := m.promote(ctx)
		// Fewer than asked for may be those of as many queues as one call looks at.
		if moved += n; err != nil || n == 0 {
			return moved, next, err
		}
	}
}

const promoteBatch = 1000

func (m *Member) promote(ctx context.Context) (n int, next time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, promoteTimeout)
	defer cancel()
	var seconds float64
	err = db.Call(ctx, m.Pool, "promote_delayed", `with p as materialized (select core_node.promote_delayed($1::int) as n),
d as materialized (select p.n, coalesce(extract(epoch from core_node.next_delayed_due() - core.now()), 3600)::float8 as seconds from p)
select d.n, d.seconds from d`+waitIfIdle, []any{promoteBatch}, &n, &seconds)
	return n, untilDue(seconds), err
}

// waitIfIdle ends a query of d, a row with seconds: where these are more than one, whoever brings up something sooner is to call.
const waitIfIdle = ` left join lateral (select core_node.wait_for_wake(array['timers'], interval '6 seconds') where d.seconds > 1) w on true`

func untilDue(seconds float64) time.Duration {
	return time.Duration(min(max(seconds, 0), 3600) * float64(time.Second))
}

// Look looks at a queue on which there is nothing to do: it asks emitters for wake-ups for wait, and returns how long it is until the next
// message is due, whatever its type: zero if one is, a long time if none is.
func (m *Member) Look(ctx context.Context, queue string, wait time.Duration) (next time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	var seconds float64
	err = db.Call(ctx, m.Pool, "look", `select coalesce(extract(epoch from core_node.look($1::text, $2::text::interval)), 3600)::float8`,
		[]any{queue, db.Interval(wait)}, &seconds)
	return untilDue(seconds), err
}

// LookOrdered is [Member.Look] for an ordered consumer.
func (m *Member) LookOrdered(ctx context.Context, consumer string, wait time.Duration) (next time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	var seconds float64
	err = db.Call(ctx, m.Pool, "look_ordered", `select coalesce(extract(epoch from core_node.look_ordered($1::text, $2::text, $3::text::interval)), 3600)::float8`,
		[]any{string(m.Namespace), consumer, db.Interval(wait)}, &seconds)
	return untilDue(seconds), err
}

// Unpark puts some parked deliveries that a live node handles, or that are of the given types, back on their queues and reports whether
// there may be more. It is meant for after Register, which moves the first of them; what is parked later comes back with the tick.
func (m *Member) Unpark(ctx context.Context, types ...string) (more bool, err error) {
	var n int
	err = db.Call(ctx, m.Pool, "unpark", `select core_node.unpark($1::text, $2::int, $3::text[])`, []any{string(m.Namespace), unparkBatch, types}, &n)
	return n == unparkBatch, err
}

const unparkBatch = 5000

// Fire fires what is due on schedule, recurring and one-shot, in all namespaces, and returns how long it is until there is more:
// zero if that is now, a long time if nothing is scheduled. When that is not soon, what comes up before calls by the key of the timers.
func (m *Member) Fire(ctx context.Context) (next time.Duration, err error) {
	var seconds float64
	err = db.Call(ctx, m.Pool, "fire_due",
		`with d as materialized (select coalesce(extract(epoch from next_due - core.now()), 3600)::float8 as seconds from core_node.fire_due($1::int))
select d.seconds from d`+waitIfIdle, []any{fireBatch}, &seconds)
	return untilDue(seconds), err
}

const fireBatch = 5000

// Tick runs the upkeep that is due, which pg_cron does as well where it is there.
func (m *Member) Tick(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tickTimeout)
	defer cancel()
	var result []byte
	return db.Call(ctx, m.Pool, "tick", `select core.tick()::text`, nil, &result)
}

// Announce asks emitters for wake-ups on key for d; zero takes that back.
func (m *Member) Announce(ctx context.Context, key string, d time.Duration) error {
	return db.Do(ctx, m.Pool, "wait_for_wake", `core_node.wait_for_wake($1::text[], $2::text::interval)`, []string{key}, db.Interval(d))
}

// Listen calls wake with the key of each wake-up, until ctx ends or the connection breaks, and once when it begins to listen,
// since what came before was not heard.
func Listen(ctx context.Context, cfg *pgx.ConnConfig, wake func(key string)) error {
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return db.Error(ctx, "listen", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := db.OwnSettings(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "listen nexus_wake"); err != nil {
		return db.Error(ctx, "listen", err)
	}
	wake("")
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return db.Error(ctx, "listen", err)
		}
		wake(n.Payload)
	}
}
