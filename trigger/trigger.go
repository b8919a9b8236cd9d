package trigger

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Trigger has what its source matches delivered to Target. Exactly one of the sources is set.
type Trigger struct {
	Namespace nexus.Namespace
	Name      string // 1 to 100 of A-Z, a-z, 0-9 and ". _ / -"

	Event      *Event
	KV         *KV
	DeadLetter *DeadLetter
	Cron       *Cron
	HTTP       *HTTP

	Target    string            // "go:mail", "sql:mail", "webhook:crm", "workflow:order"
	Consumer  string            // "": triggers; else a routed consumer of its own, for what must not wait behind others
	Disabled  bool              // created, not live
	Sync      bool              // HTTP: a request whose reply is the answer; Event and KV: an "sql:" target runs in the transaction that emits, and its error is that of the emit; by administrators; all without deliveries
	Replace   bool              // give a trigger of this name these settings, for what is emitted from then on
	MatchBack string            // "": none; "beginning" or a time with an offset: what is in the log since then and matches is delivered, too, by ticks
	Rate      string            // of that: "100/min"; "": no limit
	Resolve   bool              // DeadLetter: it is resolved when its handler succeeds, in the same transaction
	Retry     nexus.RetryPolicy // of its deliveries, kept with it; zero fields: 3 attempts, exponential, 1 s to 5 min, 20 %
}

// Event matches events by type and payload.
type Event struct {
	Pattern  string          `json:"pattern"`  // a type, "prefix.*", "prefix:*" or "*"
	Contains json.RawMessage `json:"contains"` // an object that the payload must contain, as jsonb's @> has it; nil: any
}

// source is what core.create_trigger takes as p_source, which sees to it that there is one.
func (t Trigger) source() map[string]any {
	sources := map[string]any{}
	if e := t.Event; e != nil {
		sources["event"] = filtered(map[string]any{"pattern": e.Pattern}, e.Contains)
	}
	if t.KV != nil {
		sources["kv"] = t.KV
	}
	if t.DeadLetter != nil {
		sources["dead_letter"] = t.DeadLetter
	}
	if t.Cron != nil {
		sources["cron"] = t.Cron
	}
	if t.HTTP != nil {
		sources["http"] = t.HTTP.source()
	}
	return sources
}

func filtered(source map[string]any, contains json.RawMessage) map[string]any {
	if contains != nil {
		source["contains"] = contains
	}
	return source
}

// Create makes a trigger and returns its id, also of one that is there alike. One of that name with other settings is [nexus.ErrConflict], unless
// Replace is set; what cannot be is [nexus.ErrInvalid], a function or webhook that is not there [nexus.ErrNotFound].
func Create(ctx context.Context, q nexus.DBTX, t Trigger) (id uuid.UUID, err error) {
	source, err := db.Payload("create_trigger", "p_source", t.source())
	if err != nil {
		return id, err
	}
	o := db.NewOptions("create_trigger", "")
	o.Text("consumer", t.Consumer)
	o.Retry("retry", t.Retry)
	o.Flag("replace", t.Replace)
	o.Flag("resolve", t.Resolve)
	if t.Sync {
		o.Text("mode", "sync")
	}
	o.Map("match_back", matchBack(t.MatchBack, t.Rate))
	if t.Disabled {
		o.JSON("enabled", json.RawMessage("false"))
	}
	options, err := o.Encode()
	if err != nil {
		return id, err
	}
	var text string
	if err := db.Call(ctx, q, "create_trigger", "select core.create_trigger($1::text, $2::text, $3::text::jsonb, $4::text, $5::text::jsonb)::text",
		[]any{string(t.Namespace), t.Name, source, t.Target, options}, &text); err != nil {
		return id, err
	}
	return uuid.Parse(text)
}

// EnableOptions say what becomes of what was emitted while a trigger was disabled.
type EnableOptions struct {
	MatchBack bool   // it is delivered, too, by ticks
	Rate      string // of that: "100/min"; "": no limit
}

// Enable has emits that begin after the commit make deliveries by it, and what was held be delivered; changed is false if they did. opts may be nil.
func Enable(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string, opts *EnableOptions) (changed bool, err error) {
	o := db.NewOptions("enable_trigger", "")
	if opts != nil {
		o.Flag("match_back", opts.MatchBack)
		o.Text("rate", opts.Rate)
	}
	options, err := o.Encode()
	if err != nil {
		return false, err
	}
	err = db.Call(ctx, q, "enable_trigger", "select core.enable_trigger($1::text, $2::text, $3::text::jsonb)", []any{string(ns), name, options}, &changed)
	return changed, err
}

// Disable has emits that begin after the commit make none; what is queued is handled, or with hold is set aside until the trigger is enabled. changed is false if it was so.
func Disable(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string, hold bool) (changed bool, err error) {
	err = db.Call(ctx, q, "disable_trigger", "select core.disable_trigger($1::text, $2::text, $3::boolean)", []any{string(ns), name, hold}, &changed)
	return changed, err
}

// HandOver gives the triggers and handlers of one role to another, by whose duties their deliveries are judged from then on, and returns how many; ns "" is all
// namespaces that the login operates. It takes an administrator, or an operator who is a member of to. A role that was dropped is given by its number.
func HandOver(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, from, to string) (moved int, err error) {
	err = db.Call(ctx, q, "hand_over_triggers", "select core.hand_over_triggers($1::text, $2::text, nullif($3::text, ''))", []any{from, to, string(ns)}, &moved)
	return moved, err
}

// Delete also removes its deliveries that are not acknowledged, and returns how many. A transactional handler of one of them fails at its acknowledgement.
func Delete(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string) (removed int64, err error) {
	err = db.Call(ctx, q, "delete_trigger", "select core.delete_trigger($1::text, $2::text)", []any{string(ns), name}, &removed)
	return removed, err
}

// Verdict is what one trigger would do with an event.
type Verdict struct {
	TriggerID uuid.UUID
	Name      string
	Target    string
	Why       string // the first reason against it: disabled, pattern, filter, depth, principal_revoked, no live node handles the target; "": it fires
}

// Test says what all triggers of a namespace would do with such an event, in the order of their names. It emits nothing.
func Test(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, eventType string, payload any) ([]Verdict, error) {
	text, err := db.Payload("test_triggers", "p_payload", payload)
	if err != nil {
		return nil, err
	}
	var raw []byte
	if err := db.Call(ctx, q, "test_triggers", `select coalesce(jsonb_agg(jsonb_build_object('TriggerID', t.trigger_id, 'Name', t.name, 'Target', t.target, 'Why', coalesce(t.why, '')) order by t.name collate "C"), '[]')::text
from core.test_triggers($1::text, $2::text, $3::text::jsonb) t`, []any{string(ns), eventType, text}, &raw); err != nil {
		return nil, err
	}
	var all []Verdict
	return all, json.Unmarshal(raw, &all)
}
