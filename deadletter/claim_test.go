package deadletter_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/deadletter"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/queue"
)

// holds: DL1 (in Go)
func TestClaims(t *testing.T) {
	t.Parallel()
	db := newDB(t, "shop")
	ctx := t.Context()
	db.SetNow(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	ids := bury(t, db, "shop", "no sku", "order.placed", "order.placed", "order.placed", "order.placed", "order.placed")
	shop := deadletter.Filter{Namespace: "shop", Limit: 4}

	claimed, err := deadletter.Claim(ctx, db.Owner, shop, time.Minute)
	if err != nil || len(claimed) != 4 {
		t.Fatalf("%+v, %v", claimed, err)
	}
	for i, c := range claimed {
		var envelope struct {
			EventType string `json:"eventType"`
		}
		if err := json.Unmarshal(c.Envelope, &envelope); err != nil || envelope.EventType != "order.placed" {
			t.Errorf("envelope %s: %v", c.Envelope, err)
		}
		if c.ID != ids[i] || c.Token == uuid.Nil || !c.Deadline.Equal(db.Now().Add(time.Minute)) || c.Attempts != 1 || c.LastError != "boom" || c.Body != nil {
			t.Errorf("%+v", c)
		}
	}
	if string(claimed[2].Payload) != `{"n": 2}` {
		t.Errorf("payload %s", claimed[2].Payload)
	}
	if n, err := deadletter.Count(ctx, db.Owner, deadletter.Filter{Namespace: "shop"}); err != nil || n != 5 {
		t.Errorf("%d unresolved, %v", n, err)
	}
	if r, err := deadletter.Discard(ctx, db.Owner, deadletter.Filter{IDs: ids}, "x"); err != nil || counts(r) != [3]int{1, 1, 0} ||
		len(r.Skips) != 1 || r.Skips[0].Why != "a handler of dead letters is at work on it" || r.Skips[0].Count != 4 {
		t.Errorf("others: %+v, %v", r, err)
	}

	if id, err := deadletter.ReplayClaimed(ctx, db.Owner, claimed[0], json.RawMessage(`{"n":9}`)); err != nil || id == 0 {
		t.Errorf("replayed as %d, %v", id, err)
	}
	if got := dbtest.Get[string](db, "select message ->> 'payload' from pgmq.q_core_events_shop"); got != `{"n": 9}` {
		t.Errorf("delivered %s", got)
	}
	if err := deadletter.Reject(ctx, db.Owner, claimed[1], "no again"); err != nil {
		t.Error(err)
	}
	again, err := deadletter.Claim(ctx, db.Owner, shop, time.Minute)
	if err != nil || len(again) != 1 || again[0].ID != ids[1] || again[0].Attempts != 2 || again[0].LastError != "no again" {
		t.Errorf("%+v, %v", again, err)
	}
	db.Advance(59 * time.Second)
	lost, err := deadletter.Extend(ctx, db.Owner, claimed[1:3], time.Hour)
	if err != nil || len(lost) != 1 || lost[0].Token != claimed[1].Token {
		t.Errorf("lost %+v, %v", lost, err)
	}
	db.Advance(time.Second)
	if err := deadletter.ResolveClaimed(ctx, db.Owner, claimed[2], deadletter.HandledByHandler, "done"); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"resolve": deadletter.ResolveClaimed(ctx, db.Owner, claimed[3], deadletter.Ignored, "x"),
		"discard": deadletter.DiscardClaimed(ctx, db.Owner, claimed[3], "x"),
		"reject":  deadletter.Reject(ctx, db.Owner, claimed[3], "x"),
	} {
		if e, ok := errors.AsType[*nexus.Error](err); !ok || !errors.Is(err, nexus.ErrLeaseLost) || e.Code != nexus.CodeClaimLost || e.Hint == "" {
			t.Errorf("%s when the time is over: %v", name, err)
		}
	}
	if _, err := deadletter.ReplayClaimed(ctx, db.Owner, claimed[3], nil); !errors.Is(err, nexus.ErrLeaseLost) {
		t.Errorf("replay when the time is over: %v", err)
	}
	if _, err := deadletter.ReplayClaimed(ctx, db.Owner, claimed[0], nil); !errors.Is(err, nexus.ErrConflict) {
		t.Errorf("replay of what is resolved: %v", err)
	}
	if _, err := deadletter.ReplayClaimed(ctx, db.Owner, claimed[3], json.RawMessage(`"\u0000"`)); !errors.Is(err, nexus.ErrInvalid) {
		t.Errorf("a payload that cannot be kept: %v", err)
	}
	last, err := deadletter.Claim(ctx, db.Owner, deadletter.Filter{IDs: ids}, time.Minute)
	if err != nil || len(last) != 2 {
		t.Fatalf("%+v, %v", last, err)
	}
	if err := deadletter.DiscardClaimed(ctx, db.Owner, last[0], "x"); err != nil {
		t.Error(err)
	}
	db.Advance(time.Hour)
	if r, err := deadletter.Expire(ctx, db.Owner, deadletter.Filter{Namespace: "shop"}, "too late"); err != nil || counts(r) != [3]int{1, 1, 0} {
		t.Errorf("expired %+v, %v", r, err)
	}
	if got := resolutions(t, db); got[ids[3]] != "expired" || got[ids[2]] != "handled_by_handler" || got[ids[1]] != "discarded" || got[ids[0]] != "replayed" {
		t.Errorf("resolved: %v", got)
	}
}

func TestClaimsOfWhatIsNoEnvelope(t *testing.T) {
	t.Parallel()
	db := newDB(t, "shop")
	db.Exec(`insert into core.dead_letters (namespace, source_kind, source_ref, payload, body, body_type, headers, attempts, failed_at, reason)
		values ('shop', 'task', '1', null, '\xff00', 'application/x', null, 1, core.now(), 'r'),
		       ('shop', 'task', '2', 'null', null, null, '{"a": "b", "n": 5}', 1, core.now(), 'r'), ('shop', 'task', '3', '[1]', null, null, '[1]', 1, core.now(), 'r')`)
	claimed, err := deadletter.Claim(t.Context(), db.Owner, deadletter.Filter{Source: "task"}, time.Minute)
	if err != nil || len(claimed) != 3 {
		t.Fatalf("%+v, %v", claimed, err)
	}
	if c := claimed[0]; string(c.Body) != "\xff\x00" || c.BodyType != "application/x" {
		t.Errorf("%+v", c)
	}
	if c := claimed[1]; string(c.Payload) != "null" || c.Headers["a"] != "b" || c.Headers["n"] != "5" || c.LastError != "" {
		t.Errorf("%+v", c)
	}
	if c := claimed[2]; string(c.Payload) != "[1]" || c.Headers != nil {
		t.Errorf("%+v", c)
	}
	none, err := deadletter.Claim(t.Context(), db.Owner, deadletter.Filter{Source: "task"}, time.Minute)
	if err != nil || len(none) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
	if lost, err := deadletter.Extend(t.Context(), db.Owner, nil, time.Minute); err != nil || len(lost) != 0 {
		t.Errorf("%+v, %v", lost, err)
	}
	if _, err := deadletter.Claim(t.Context(), db.Owner, deadletter.Filter{Source: "task"}, 48*time.Hour); !errors.Is(err, nexus.ErrInvalid) {
		t.Errorf("for two days: %v", err)
	}
	if _, err := deadletter.Claim(t.Context(), db.Pool, deadletter.Filter{Namespace: "shop"}, time.Minute); !errors.Is(err, nexus.ErrForbidden) {
		t.Errorf("an ordinary login claims: %v", err)
	}
}

func TestExpireAll(t *testing.T) {
	t.Parallel()
	db := newDB(t, "shop")
	many(t, db, 1500)
	if err := queue.AlterNamespace(t.Context(), db.Owner, "shop", &queue.NamespaceOptions{ExpireUnresolved: time.Hour}); err != nil {
		t.Fatal(err)
	}
	r, err := deadletter.ExpireAll(t.Context(), db.Owner, deadletter.Filter{Namespace: "shop", AfterID: 100}, "too late", nil)
	if err != nil || counts(r) != [3]int{1400, 1400, 0} {
		t.Errorf("%+v, %v", r, err)
	}
}
