package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/telemetry"
)

// ReplyError is a reply that is none. Status is 422 (rejected, or a payload that the handler does not take), 500 (the handler failed), 502 (its process was
// lost), 503 (no live node has the handler, or the node drained), 504 (no reply in time) or 507 (the reply is too large).
type ReplyError struct {
	Status  int
	Message string
}

func (e *ReplyError) Error() string { return fmt.Sprintf("request: %d %s", e.Status, e.Message) }

const (
	requestFor  = 30 * time.Second
	requestMost = 5 * time.Minute

	// Looks for the reply come at a quarter of the time that has passed, within these bounds.
	lookSoonest = time.Millisecond
	lookLatest  = 50 * time.Millisecond

	// cancelFor bounds what is said when the caller's context is over.
	cancelFor = 2 * time.Second
)

// Request asks a handler of the emitter's namespace and waits for what it returns: one that a node has by node.OnRequest under this name, or one with
// "sql:", "webhook:" or "workflow:" before its name. It takes a pool, since a reply can only follow a commit: the request is its own transaction.
// Between two looks for the reply no connection is held.
//
// It waits as long as ctx has time, without a deadline 30 s, and never more than 5 min. Where ctx ends the request is cancelled, and ctx's error returned.
// A reply that is none is a *[ReplyError]. The handler runs once at most; after an error other than 503 and 422 it is open whether it has.
func Request[R, T any](ctx context.Context, pool *pgxpool.Pool, e Emitter, t nexus.EventType[T], payload T) (reply R, err error) {
	timeout := requestFor
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(time.Until(deadline), requestMost)
	}
	if err := ctx.Err(); err != nil {
		return reply, err
	}
	id, err := e.request(ctx, pool, emission(string(t), payload, nil), max(timeout.Truncate(time.Microsecond), time.Millisecond))
	if err != nil {
		return reply, err
	}
	body, err := awaitReply(ctx, pool, id, timeout)
	if err != nil {
		return reply, err
	}
	if err := decodeReply(body, &reply); err != nil {
		return reply, fmt.Errorf("request: decode the reply of %q: %w", t, err)
	}
	return reply, nil
}

// request makes one, inside of the middleware.
func (e Emitter) request(ctx context.Context, q nexus.DBTX, m Emission, timeout time.Duration) (id uuid.UUID, err error) {
	const op = "request"
	batch := []Emission{m}
	_, err = e.through(ctx, batch, func(ctx context.Context) ([]Receipt, error) {
		ctx, end := telemetry.Emitting(ctx, e.Namespace, batch[0].Type, 1)
		payload, err := db.Payload(op, "p_payload", batch[0].Payload)
		if err == nil {
			var options string
			o := e.optionsOf(ctx, op, "", &batch[0].EmitOptions)
			o.Duration("timeout", timeout)
			if options, err = o.Encode(); err == nil {
				err = db.Call(ctx, q, op, "select core.request($1::text, $2::text, $3::text::jsonb, $4::text::jsonb)",
					[]any{string(e.Namespace), batch[0].Type, payload, options}, &id)
			}
		}
		end(err)
		return []Receipt{{}}, err
	})
	return id, err
}

// AwaitReply waits for the reply to a request that was made in SQL, and returns it as it is. q is a pool: between two looks no connection is held. It ends as
// [Request] does: a reply that is none is a *[ReplyError], and where ctx ends first the request is cancelled. One that is not there is [nexus.ErrNotFound].
func AwaitReply(ctx context.Context, q nexus.DBTX, id uuid.UUID) (json.RawMessage, error) {
	return awaitReply(ctx, q, id, requestMost)
}

// awaitReply bears a database that is away for a while, and sees what becomes of the request after that.
func awaitReply(ctx context.Context, q nexus.DBTX, id uuid.UUID, within time.Duration) ([]byte, error) {
	until := time.Now().Add(within)
	timer := time.NewTimer(lookSoonest)
	defer timer.Stop()
	for begun := time.Now(); ; timer.Reset(min(max(time.Since(begun)/4, lookSoonest), lookLatest)) {
		select {
		case <-ctx.Done():
			cancelRequest(ctx, q, id)
			return nil, ctx.Err()
		case <-timer.C:
		}
		var state, message string
		var status int
		var reply []byte
		err := db.Call(ctx, q, "take_reply", `select state, coalesce(status, 0), reply::text, coalesce(error, '') from core.take_reply($1::text::uuid)`,
			[]any{id.String()}, &state, &status, &reply, &message)
		switch {
		case errors.Is(err, nexus.ErrUnavailable) && time.Now().Before(until), err != nil && ctx.Err() != nil:
			continue
		case err != nil:
			return nil, err
		case status == http.StatusOK:
			return reply, nil
		case status != 0:
			return nil, &ReplyError{Status: status, Message: message}
		}
	}
}

// cancelRequest lets nobody work for a caller who is gone. If it is not heard, the request expires.
func cancelRequest(ctx context.Context, q nexus.DBTX, id uuid.UUID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelFor)
	defer cancel()
	var done bool
	_ = db.Call(ctx, q, "cancel_request", "select core.cancel_request($1::text::uuid)", []any{id.String()}, &done)
}

// decodeReply keeps all digits of numbers, as [nexus.Delivery.Decode] does.
func decodeReply(body []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return d.Decode(v)
}
