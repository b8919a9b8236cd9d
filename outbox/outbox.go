package outbox

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Message is bytes with a type.
type Message struct {
	Queue     string
	Key       string // picks the lane; "": any, and nothing is promised about order
	Type      string // what the body is, such as application/json; 1 to 1,024 bytes
	Body      []byte // up to QueueOptions.MaxBodyBytes
	DedupeKey string // "": none
}

// QueueOptions are the options of [RegisterQueue]. What is zero has no opinion: a new queue gets what is said here, one that is there may
// have anything.
type QueueOptions struct {
	Profile      Profile           // Default
	Strict       bool              // the messages of a lane are in the order in which their transactions commit, which wait for one another
	MaxBodyBytes int               // 65,536; up to 104,857,600
	Retry        nexus.RetryPolicy // 1 s doubling to 60 s, and what the namespace says
	Halt         bool              // a message whose attempts are used up stops its lane until somebody lets it go on, and is no dead letter
}

// Profile is how processors of a queue pace themselves.
type Profile string

// The profiles.
const (
	Default        Profile = "default"         // 50 messages at once; a lane that had little is left alone for 5 ms
	LowLatency     Profile = "low_latency"     // 10 messages at once and no rest; looks more often where no wake-up comes
	HighThroughput Profile = "high_throughput" // 500 messages at once; rests for 50 ms
	Relaxed        Profile = "relaxed"         // 100 messages at once; rests for half a second, and looks seldom
)

// RegisterQueue makes a queue with so many lanes, 1 to 4,096, and reports whether it did. One that is there with other lanes or options is
// [nexus.ErrConflict]. opts may be nil.
func RegisterQueue(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, queue string, lanes int, opts *QueueOptions) (made bool, err error) {
	const op = "outbox_register_queue"
	if opts == nil {
		opts = &QueueOptions{}
	}
	o := db.NewOptions(op, "")
	o.Text("profile", string(opts.Profile))
	o.Flag("strict", opts.Strict)
	o.Number("max_body_bytes", int64(opts.MaxBodyBytes))
	o.Retry("retry", opts.Retry)
	if opts.Halt {
		o.Text("exhausted", "halt")
	}
	options, err := o.Encode()
	if err != nil {
		return false, err
	}
	err = db.Call(ctx, q, op, "select core.outbox_register_queue($1::text, $2::text, $3::text::int, $4::text::jsonb)",
		[]any{string(ns), queue, fmt.Sprint(lanes), options}, &made)
	return made, err
}

// DropQueue takes a queue away. One that still has messages or unresolved dead letters is [nexus.ErrConflict] unless force says that they
// may be lost, and so it is while a transaction that has enqueued to any queue stays open for a second. Stop its producers before: what is
// enqueued while it is being dropped is lost with it.
func DropQueue(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, queue string, force bool) error {
	return db.Do(ctx, q, "outbox_drop_queue", "core.outbox_drop_queue($1::text, $2::text, $3::text::bool)", string(ns), queue, fmt.Sprint(force))
}

// Receipt is what became of a message. Of a duplicate there is only that.
type Receipt struct {
	ID        int64
	Lane      int
	Duplicate bool
}

// Enqueue puts a message at the end of its lane, in q's transaction.
func Enqueue(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, m Message) (Receipt, error) {
	var r Receipt
	err := db.Call(ctx, q, "outbox_enqueue", `select coalesce(message_id, 0), coalesce(lane, 0), duplicate from core.outbox_enqueue($1::text, $2::text,
		pg_catalog.decode($3::text, 'base64'), $4::text, nullif($5::text, ''), nullif($6::text, ''))`,
		[]any{string(ns), m.Queue, base64.StdEncoding.EncodeToString(m.Body), m.Type, m.Key, m.DedupeKey}, &r.ID, &r.Lane, &r.Duplicate)
	return r, err
}

// EnqueueBatch puts up to 10,000 messages of one queue at the ends of their lanes, all or none, in this order.
func EnqueueBatch(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, batch []Message) ([]Receipt, error) {
	const op = "outbox_enqueue_batch"
	if len(batch) == 0 {
		return nil, db.Given(op, q)
	}
	for i, m := range batch {
		if m.Queue != batch[0].Queue {
			return nil, &nexus.Error{
				Op: op, Code: nexus.CodeArgumentValue, Field: fmt.Sprintf("batch[%d].Queue", i),
				Message: fmt.Sprintf("a batch is for one queue, and this message is for %q where the first is for %q", m.Queue, batch[0].Queue),
				Hint:    "enqueue one batch for each queue; calls in one transaction still commit together",
			}
		}
	}
	// As text, which every handle takes: bytes in hex, and what is not given is the empty string.
	bodies, types, keys, dedupes := make([]string, len(batch)), make([]string, len(batch)), make([]string, len(batch)), make([]string, len(batch))
	deduped := false
	for i, m := range batch {
		bodies[i], types[i], keys[i], dedupes[i] = `\x`+hex.EncodeToString(m.Body), m.Type, m.Key, m.DedupeKey
		deduped = deduped || m.DedupeKey != ""
	}
	if !deduped {
		dedupes = nil
	}
	var (
		ids        []int64
		lanes      []int
		duplicates []bool
	)
	// Rows come in the order of the input.
	err := db.Call(ctx, q, op, `select pg_catalog.array_agg(coalesce(message_id, 0)), pg_catalog.array_agg(coalesce(lane, 0)), pg_catalog.array_agg(duplicate)
		from core.outbox_enqueue_batch($1::text, $2::text, $3::text[]::bytea[], $4::text[], pg_catalog.array_replace($5::text[], '', null),
			pg_catalog.array_replace($6::text[], '', null))`,
		[]any{string(ns), batch[0].Queue, bodies, types, keys, dedupes}, &ids, &lanes, &duplicates)
	if err != nil {
		return nil, err
	}
	if len(ids) != len(batch) {
		return nil, fmt.Errorf("%s: %d receipts for %d messages", op, len(ids), len(batch))
	}
	receipts := make([]Receipt, len(batch))
	for i := range receipts {
		receipts[i] = Receipt{ID: ids[i], Lane: lanes[i], Duplicate: duplicates[i]}
	}
	return receipts, nil
}

// Pause lets nobody take up more messages of a lane, and reports whether it was active.
func Pause(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, queue string, lane int, reason string) (paused bool, err error) {
	err = db.Call(ctx, q, "lane_pause", "select core.lane_pause($1::text, $2::text, $3::text::int, nullif($4::text, ''))",
		[]any{string(ns), queue, fmt.Sprint(lane), reason}, &paused)
	return paused, err
}

// Release takes a lane from whoever holds it, before its lease ends, and returns which node that was, "" if nobody held it. What was in hand comes
// again and has used no attempt; who had it settles nothing any more. It is meant for nodes that are gone or hang: what the handler of one that lives
// does outside of the database goes on until the node renews its leases.
func Release(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, queue string, lane int, reason string) (node string, err error) {
	err = db.Call(ctx, q, "lane_release", "select coalesce(core.lane_release($1::text, $2::text, $3::text::int, nullif($4::text, '')), '')",
		[]any{string(ns), queue, fmt.Sprint(lane), reason}, &node)
	return node, err
}

// Resume has a lane go on that was paused, has halted, or waits for an attempt, and reports whether it did not go on already.
func Resume(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, queue string, lane int, reason string) (resumed bool, err error) {
	err = db.Call(ctx, q, "lane_resume", "select core.lane_resume($1::text, $2::text, $3::text::int, nullif($4::text, ''))",
		[]any{string(ns), queue, fmt.Sprint(lane), reason}, &resumed)
	return resumed, err
}

// Skip makes a dead letter of the message that a lane stands at, and has the lane go on. It returns the number of that message in the lane, 0
// if the lane stands at none. A lane that a processor holds is [nexus.ErrConflict], and so is one that is not paused and whose message has not
// failed: see [SkipMessage].
func Skip(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, queue string, lane int, reason string) (seq int64, err error) {
	return SkipMessage(ctx, q, ns, queue, lane, 0, reason)
}

// SkipMessage is [Skip] of the message with this number in the lane, whether it has failed or not. A lane that stands at another one is
// [nexus.ErrConflict], so that who calls it twice skips one message. 0 means whichever it stands at, as in Skip.
func SkipMessage(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, queue string, lane int, message int64, reason string) (seq int64, err error) {
	err = db.Call(ctx, q, "lane_skip", "select coalesce(core.lane_skip($1::text, $2::text, $3::text::int, $4::text, nullif($5::text, '0')::bigint), 0)",
		[]any{string(ns), queue, fmt.Sprint(lane), reason, fmt.Sprint(message)}, &seq)
	return seq, err
}

// Repartition gives a queue or an ordered consumer another number of lanes, while traffic runs, and reports whether it had another one. The
// lanes of before are worked until they are empty, and only then the new ones: messages of a key stay in their order.
func Repartition(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, queue string, lanes int) (changed bool, err error) {
	err = db.Call(ctx, q, "outbox_repartition", "select core.outbox_repartition($1::text, $2::text, $3::text::int)", []any{string(ns), queue, fmt.Sprint(lanes)}, &changed)
	return changed, err
}

// Replay enqueues again what was enqueued to a queue from a time on and has ended, in its order and under new ids, and returns how many messages
// that are. A message and its copies by earlier calls count as one, which is
// left out while one of them waits. The zero time means all that is left: what is in a partition that was dropped, or in lanes that were cut anew since, is gone.
func Replay(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, queue string, from time.Time, reason string) (messages int64, err error) {
	at := "-infinity"
	if !from.IsZero() {
		at = db.Time(from)
	}
	err = db.Call(ctx, q, "outbox_replay", "select core.outbox_replay($1::text, $2::text, $3::text::timestamptz, nullif($4::text, ''))",
		[]any{string(ns), queue, at, reason}, &messages)
	return messages, err
}

// Rebase has lanes go on on the server that a dump was restored to, and returns how many did. q is no transaction, or one that has written
// nothing. It takes an administrator.
func Rebase(ctx context.Context, q nexus.DBTX) (lanes int, err error) {
	err = db.Call(ctx, q, "lanes_rebase", "select core.lanes_rebase()", nil, &lanes)
	return lanes, err
}

// Item is a message that is being handled.
type Item struct {
	Message
	Lane      int
	Seq       int64 // of the lane, from 1 on and without a gap
	ID        int64 // unique in the database; the same at each attempt
	Attempt   int   // 1 on the first try
	CreatedAt time.Time
}
