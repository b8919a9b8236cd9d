package pgmqueue

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/envelope"
)

// Requests is the consumer whose deliveries are requests.
const Requests = "requests"

// Begun is the answer of [BeginRequest].
type Begun struct {
	ID   uuid.UUID     // of the request; zero for a message that is none
	May  bool          // the handler may run
	Why  string        // if not: lost, late or gone
	Left time.Duration // as long as somebody waits
}

// BeginRequest asks whether the handler of a request may run: only once, and while somebody waits.
func BeginRequest(ctx context.Context, d *nexus.Delivery) (b Begun, err error) {
	m := boundTo(d)
	if m == nil || m.replyTo == uuid.Nil {
		return Begun{Why: "no request"}, nil
	}
	var seconds float64
	err = db.Call(ctx, m.from.Pool, "begin_request",
		`select state, coalesce(extract(epoch from time_left), 0)::float8 from core_node.begin_request($1::text::uuid)`,
		[]any{m.replyTo.String()}, &b.Why, &seconds)
	b.ID, b.May, b.Left = m.replyTo, b.Why == "begun", time.Duration(seconds*float64(time.Second))
	return b, err
}

// Answered is the answer of [AnswerRequest].
type Answered struct {
	Status    int
	Abandoned bool          // nobody waits any more
	Took      time.Duration // since the request, unless it is abandoned
}

// AnswerRequest gives the reply, JSON that goes with 200, or text that goes with another status, and acknowledges d with it.
func AnswerRequest(ctx context.Context, d *nexus.Delivery, status int, reply, text string) (a Answered, err error) {
	m := boundTo(d)
	var body, fault any
	if status == 200 {
		body = reply
	} else {
		fault = text
	}
	var state string
	var seconds float64
	err = db.Call(ctx, m.from.Pool, "answer_request", `select state, status, coalesce(extract(epoch from took), 0)::float8
from core_node.answer_request($1::text, $2::bigint, $3::int, $4::text::timestamptz, $5::int, $6::text::jsonb, $7::text)`,
		[]any{m.from.Queue, m.msgID, m.readCt, db.Time(m.at()), status, body, fault}, &state, &a.Status, &seconds)
	if err != nil {
		return a, err
	}
	m.acked.Store(true)
	a.Abandoned, a.Took = state == "abandoned", time.Duration(seconds*float64(time.Second))
	return a, nil
}

// replyTo is the request that a message is; none if it is none.
func replyTo(consumer string, message []byte) uuid.UUID {
	if consumer != Requests {
		return uuid.Nil
	}
	return envelope.ReplyTo(message)
}
