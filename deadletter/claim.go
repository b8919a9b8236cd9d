package deadletter

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Claimed is a dead letter that nobody else can move until Deadline.
type Claimed struct {
	ID        int64             `json:"dead_letter_id"`
	Token     uuid.UUID         `json:"claim_token"`
	Deadline  time.Time         `json:"deadline"`  // by the clock of the database
	Payload   json.RawMessage   `json:"payload"`   // of the event, or the whole message that was no envelope; null where there is a Body
	Envelope  json.RawMessage   `json:"envelope"`  // the message without its payload; null where it was no envelope
	Headers   map[string]string `json:"headers"`   // those that the producer gave
	Body      []byte            `json:"body"`      // what was no JSON
	BodyType  string            `json:"body_type"` // its content type
	Attempts  int               `json:"attempts"`  // those that were rejected after a claim among them
	LastError string            `json:"last_error"`
}

// Claim takes dead letters for d, 1 second to 1 day, oldest first. Those that others hold are passed over; a claim whose time is over is none.
// They come with their payloads, so give the filter a limit. End each with [ResolveClaimed], [DiscardClaimed], [ReplayClaimed] or [Reject].
func Claim(ctx context.Context, q nexus.DBTX, f Filter, d time.Duration) ([]Claimed, error) {
	const op = "claim_dead_letters"
	filter, err := f.encode(op)
	if err != nil {
		return nil, err
	}
	var text string
	err = db.Call(ctx, q, op, `select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
			'dead_letter_id', c.dead_letter_id, 'claim_token', c.claim_token, 'deadline', c.deadline, 'payload', c.payload, 'envelope', c.envelope,
			'headers', case when pg_catalog.jsonb_typeof(c.headers) = 'object'
				then (select pg_catalog.json_object_agg(h.key, h.value) from pg_catalog.jsonb_each_text(c.headers) h) end,
			'body', pg_catalog.translate(pg_catalog.encode(c.body, 'base64'), E'\n', ''), 'body_type', c.body_type,
			'attempts', c.attempts, 'last_error', c.last_error) order by c.dead_letter_id), '[]')::text
		from core.claim_dead_letters($1::text::jsonb, $2::text::interval) c`, []any{filter, db.Interval(d)}, &text)
	if err != nil {
		return nil, err
	}
	var claimed []Claimed
	if err := json.Unmarshal([]byte(text), &claimed); err != nil {
		return nil, err
	}
	return claimed, nil
}

// Extend lets claims end d from now and returns those that were lost: their time was over, another has them, or they are resolved. Deadlines
// in cs stay as they were.
func Extend(ctx context.Context, q nexus.DBTX, cs []Claimed, d time.Duration) (lost []Claimed, err error) {
	ids, tokens := make([]int64, len(cs)), make([]string, len(cs))
	for i, c := range cs {
		ids[i], tokens[i] = c.ID, c.Token.String()
	}
	var gone []int64
	err = db.Call(ctx, q, "extend_dead_letters",
		"select coalesce(pg_catalog.array_agg(e.dead_letter_id), '{}') from core.extend_dead_letters($1::bigint[], $2::text[]::uuid[], $3::text::interval) e",
		[]any{ids, tokens, db.Interval(d)}, &gone)
	if err != nil {
		return nil, err
	}
	missing := map[int64]bool{}
	for _, id := range gone {
		missing[id] = true
	}
	for _, c := range cs {
		if missing[c.ID] {
			lost = append(lost, c)
		}
	}
	return lost, nil
}

// Reject gives a dead letter back: it is pending again, its attempts count one more, and failure is its last error. A claim that is lost is
// [nexus.ErrLeaseLost], code [nexus.CodeClaimLost], here and in the next three.
func Reject(ctx context.Context, q nexus.DBTX, c Claimed, failure string) error {
	return db.Do(ctx, q, "reject_dead_letter", "core.reject_dead_letter($1::bigint, $2::text::uuid, $3::text)", c.ID, c.Token.String(), failure)
}

// ResolveClaimed settles a claimed dead letter without delivering it, as [Ignored] or [HandledByHandler], for a reason that is kept with it.
func ResolveClaimed(ctx context.Context, q nexus.DBTX, c Claimed, resolution, reason string) error {
	return db.Do(ctx, q, "resolve_dead_letter", "core.resolve_dead_letter($1::bigint, $2::text, $3::text, $4::text::uuid)", c.ID, resolution, reason, c.Token.String())
}

// DiscardClaimed resolves a claimed dead letter without delivering it, for a reason that is kept with it.
func DiscardClaimed(ctx context.Context, q nexus.DBTX, c Claimed, reason string) error {
	return db.Do(ctx, q, "discard_dead_letter", "core.discard_dead_letter($1::bigint, $2::text, $3::text::uuid)", c.ID, reason, c.Token.String())
}

// ReplayClaimed delivers a claimed dead letter again, with another payload unless that is nil, and returns the id of the message, 0 where there
// is none yet. The dead letter keeps its payload.
func ReplayClaimed(ctx context.Context, q nexus.DBTX, c Claimed, payload json.RawMessage) (int64, error) {
	const op = "replay_dead_letter"
	var given any
	if payload != nil {
		text, err := db.Payload(op, "payload", payload)
		if err != nil {
			return 0, err
		}
		given = text
	}
	var id int64
	err := db.Call(ctx, q, op, "select coalesce(core.replay_dead_letter($1::bigint, $2::text::jsonb, $3::text::uuid), 0)", []any{c.ID, given, c.Token.String()}, &id)
	return id, err
}

// Expire resolves dead letters as expired, since nobody came for them in time, for a reason that is kept with each.
func Expire(ctx context.Context, q nexus.DBTX, f Filter, reason string) (Result, error) {
	return settle(ctx, q, "expire_dead_letters", f, "core.expire_dead_letters($1::text::jsonb, $2::text)", reason)
}

// Count says exactly how many unresolved dead letters a filter picks, claimed ones among them. Without a Limit it counts all.
func Count(ctx context.Context, q nexus.DBTX, f Filter) (n int64, err error) {
	const op = "count_dead_letters"
	filter, err := f.encode(op)
	if err != nil {
		return 0, err
	}
	err = db.Call(ctx, q, op, "select core.count_dead_letters($1::text::jsonb)", []any{filter}, &n)
	return n, err
}
