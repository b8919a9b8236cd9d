package readmodel

import (
	"fmt"
	"time"
)

// EventFilter picks events of the log. Zero fields match all.
type EventFilter struct {
	Namespace     string
	Type          string // an event type or a pattern
	Since, Before time.Time
}

// Events lists events of the log, the newest first, without their payloads. Of all namespaces they come in the order of their ids.
func Events(f EventFilter) List {
	l := List{
		What:  "list events",
		SQL:   `select event_id, namespace, event_type, emitted_at, producer_node_id, correlation_id, event_uid from core.event_log where true`,
		Names: []string{"event_id", "namespace", "event_type", "emitted_at", "producer_node_id", "correlation_id", "event_uid"},
		Keys:  []Key{{"event_id", "bigint"}},
		Desc:  true,
	}
	// Only what was asked for is in the statement, so that an index of just that can serve it.
	if !f.Since.IsZero() {
		l.Where("emitted_at >= $%d::timestamptz", f.Since)
	}
	if !f.Before.IsZero() {
		l.Where("emitted_at < $%d::timestamptz", f.Before)
	}
	if f.Namespace == "" {
		l.OfType("event_type", f.Type)
		return l
	}
	l.Keys = []Key{{"emitted_at", "timestamptz"}, {"event_id", "bigint"}}
	l.Where("event_type = e.event_type and emitted_at <= e.newest and namespace = $%d::text", f.Namespace)
	prefix, isPattern := splitPattern(f.Type)
	l.Args = append(l.Args, prefix)
	types := typeOf
	if isPattern || f.Type == "" {
		types = typesOf
	}
	l.Each = fmt.Sprintf(types, len(l.Args)-1, len(l.Args))
	return l
}

// typesOf selects the event types with a prefix of a namespace, and when the newest event of each was emitted, beyond which no month need be looked
// at. The only index that has a namespace's events has them by type: so types are found by skipping from one to the next. typeOf is one of them.
const (
	typesOf = `with recursive t as (
		(select event_type, emitted_at as newest from core.event_log where namespace = $%[1]d::text order by event_type, emitted_at desc limit 1)
		union all
		select n.* from t cross join lateral
		       (select x.event_type, x.emitted_at from core.event_log x where x.namespace = $%[1]d::text and x.event_type > t.event_type
		         order by x.event_type, x.emitted_at desc limit 1) n)
		select t.event_type, t.newest from t where pg_catalog.starts_with(t.event_type, $%[2]d::text)`
	typeOf = `select event_type, emitted_at as newest from core.event_log
		where namespace = $%[1]d::text and event_type = $%[2]d::text order by emitted_at desc limit 1`
)

// EventByID and EventByUID select one event whole. The log has no index by UID: a large one is read whole for it.
const (
	EventByID  = `select * from core.event_log where event_id = $1::bigint order by emitted_at limit 1`
	EventByUID = `select * from core.event_log where event_uid = $1::text::uuid order by emitted_at limit 1`
)

// UIDOfEvent selects the UID of an event by its id.
const UIDOfEvent = `select event_uid from core.event_log where event_id = $1::bigint limit 1`

// Attempts lists the failed attempts of the deliveries of an event, the newest first.
func Attempts(uid, namespace string) List {
	l := List{
		What: "list attempts",
		SQL: `select error_id, namespace, consumer, attempt, action, reason, error, node_id, failed_at, due_at, msg_id
		   from core.delivery_errors where event_uid = $1::text::uuid`,
		Args:  []any{uid},
		Names: []string{"error_id", "namespace", "consumer", "attempt", "action", "reason", "error", "node_id", "failed_at", "due_at", "msg_id"},
		Keys:  []Key{{"error_id", "bigint"}},
		Desc:  true,
	}
	if namespace != "" {
		l.Where("namespace = $%d::text", namespace)
	}
	return l
}
