// Package answer is how a node answers requests: a leased handler that begins one, catches every end of what it calls, and gives the reply to the database
// together with the acknowledgement.
//
//	claimed ──▶ begin ──▶ may it run? ──▶ the handler ──▶ answer and ack
//	              │ no: it was begun before, is late or gone
//	              ▼
//	             ack
package answer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/invoke"
	"github.com/nexuspg/nexus/internal/pgmqueue"
	"github.com/nexuspg/nexus/internal/work"
)

// Answerer is what all handlers of a node have in common that answer requests.
type Answerer struct {
	Logger *slog.Logger

	// Answered is told of each answer: its status, why it is no reply, how long that took since the request, or that nobody waited any more. nil: nobody is.
	Answered func(ctx context.Context, status int, fault string, took time.Duration, abandoned bool)
}

// answerFor bounds what giving a reply to the database may take, when the handler's time is over.
const answerFor = 5 * time.Second

// Handler makes a leased handler of what answers requests.
func (a *Answerer) Handler(answer func(ctx context.Context, d *nexus.Delivery) (any, error)) func(context.Context, *nexus.Delivery) error {
	return func(ctx context.Context, d *nexus.Delivery) (err error) {
		begun, err := pgmqueue.BeginRequest(ctx, d)
		if err != nil {
			return err
		}
		if begun.ID == uuid.Nil {
			return nexus.Reject("not a request")
		}
		if !begun.May {
			a.Logger.Debug("a request does not run", "request", begun.ID, "target", d.Target, "why", begun.Why)
			return nil
		}
		d.MaxAttempts = 1
		limited, cancel := context.WithTimeout(ctx, begun.Left)
		defer cancel()
		var reply any
		var end invoke.End
		// Also where the handler ends the goroutine.
		defer func() { err = a.reply(limited, d, begun, reply, end) }()
		end.Catch(func() (err error) {
			reply, err = answer(limited, d)
			return err
		})
		return nil
	}
}

// reply gives the database what came out, and acknowledges the delivery with it.
func (a *Answerer) reply(ctx context.Context, d *nexus.Delivery, begun pgmqueue.Begun, reply any, end invoke.End) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, nexus.ErrLeaseLost) {
		return nil // whoever has the lease answers
	}
	status, text := statusOf(end, cause)
	body := ""
	if status == http.StatusOK {
		var err error
		if body, err = encodeReply(reply); err != nil {
			status, text = http.StatusInternalServerError, err.Error()
		}
	}
	// The handler's context may be over, and what came out counts all the same.
	saying, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerFor)
	defer cancel()
	answered, err := pgmqueue.AnswerRequest(saying, d, status, body, text)
	if e, ok := errors.AsType[*nexus.Error](err); ok && e.Code == nexus.CodePayload {
		text = e.Message
		answered, err = pgmqueue.AnswerRequest(saying, d, http.StatusInternalServerError, "", text)
	}
	if err != nil {
		if errors.Is(err, nexus.ErrLeaseLost) {
			return nil // the settlement finds that out again, and says it
		}
		return err
	}
	if a.Answered != nil {
		a.Answered(ctx, answered.Status, text, answered.Took, answered.Abandoned)
	}
	log := a.Logger.With("request", begun.ID, "target", d.Target, "event_id", d.ID, "status", answered.Status)
	if answered.Status >= http.StatusInternalServerError {
		if end.Stack != nil {
			text = invoke.Failure(end)
		}
		log.Error("a request failed", "error", text)
	}
	if answered.Abandoned {
		log.Warn("nobody waits for the reply to a request")
	}
	return nil
}

func encodeReply(reply any) (string, error) {
	if reply == nil {
		return "null", nil
	}
	text, err := db.Payload("answer_request", "p_reply", reply)
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		return "", fmt.Errorf("the reply: %s", e.Message)
	}
	return text, err
}

// ErrTooLarge is the error of a handler whose reply is too large to be read.
var ErrTooLarge = errors.New("the reply is too large")

// statusOf says what the end of a handler is for whoever asked.
func statusOf(end invoke.End, cause error) (status int, text string) {
	r := invoke.Judge(end, cause, 0)
	switch {
	case end.Err == nil:
		return http.StatusOK, ""
	case errors.Is(cause, nexus.ErrDraining):
		return http.StatusServiceUnavailable, "the node drained"
	case errors.Is(cause, context.DeadlineExceeded):
		return http.StatusGatewayTimeout, "not done in time: " + said(end)
	case errors.Is(end.Err, ErrTooLarge):
		return http.StatusInsufficientStorage, said(end)
	case r.Action == work.Reject:
		return http.StatusUnprocessableEntity, r.Reason
	case r.Reason == work.ReasonDecode:
		return http.StatusUnprocessableEntity, said(end)
	case r.Action == work.Release || r.Exact:
		return http.StatusServiceUnavailable, said(end)
	}
	return http.StatusInternalServerError, said(end)
}

// said is what the error says. A stack is for the log.
func said(end invoke.End) string { return work.Storable(invoke.TextOf(end.Err), work.MaxText) }
