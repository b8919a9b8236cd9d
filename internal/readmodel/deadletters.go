package readmodel

import (
	"fmt"
	"time"
)

// SourceKinds are the kinds of work that a dead letter can have been, those of core_private.source_kinds().
var SourceKinds = []string{"delivery", "broadcast", "lane", "task", "trigger", "workflow_step", "workflow_compensation"}

// DeadLetterFilter picks unresolved dead letters. Zero fields match all.
type DeadLetterFilter struct {
	Namespace     string
	Source        string // one of SourceKinds
	Trigger       string // name or id of the trigger that made the delivery
	Target        string // the key of the handler that the delivery named
	Type          string // an event type or a pattern
	Reason        string
	Before, After time.Time // when it was given up
}

// DeadLetters lists unresolved dead letters, the oldest first.
func DeadLetters(f DeadLetterFilter) List {
	l := List{
		What: "list dead letters",
		SQL: `select dead_letter_id, namespace, consumer, event_type, source_kind, reason, attempts, failed_at
		   from core.unresolved_dead_letters where true`,
		Names: []string{"dead_letter_id", "namespace", "consumer", "event_type", "source_kind", "reason", "attempts", "failed_at"},
		Keys:  []Key{{"dead_letter_id", "bigint"}},
	}
	// Only what was asked for is in the statement, so that an index of just that can serve it.
	if f.Source != "" {
		l.Where("source_kind = $%d::text", f.Source)
	}
	if f.Trigger != "" {
		l.Where("$%d::text in (trigger, trigger_id)", f.Trigger)
	}
	if f.Target != "" {
		l.Where("target = $%d::text", f.Target)
	}
	if f.Reason != "" {
		l.Where("reason = $%d::text", f.Reason)
	}
	if !f.Before.IsZero() {
		l.Where("failed_at < $%d::timestamptz", f.Before)
	}
	if !f.After.IsZero() {
		l.Where("failed_at >= $%d::timestamptz", f.After)
	}
	l.OfType("event_type", f.Type)
	_, isPattern := splitPattern(f.Type)
	switch {
	case f.Type != "" && !isPattern:
		// The index by type is in two parts, as that of groups is.
		l.Each = "select namespace from core.namespaces"
		if f.Namespace != "" {
			l.Args = append(l.Args, f.Namespace)
			l.Each += fmt.Sprintf(" where namespace = $%d::text", len(l.Args))
		}
		l.SQL += " and namespace = e.namespace and pg_catalog.octet_length(reason) "
		l.SQL = l.SQL + "<= 200 union all " + l.SQL + "> 200"
	case f.Namespace != "":
		l.Where("namespace = $%d::text", f.Namespace)
	}
	return l
}

// DeadLetterGroups counts unresolved dead letters by consumer, type and reason, the most first.
func DeadLetterGroups(namespace string) List {
	return List{
		What: "group dead letters",
		SQL: `select count, namespace, consumer, source_kind, event_type, reason, oldest, newest
		   from core.dead_letter_groups
		  where $1::text = '' or namespace = $1::text`,
		Args:  []any{namespace},
		Names: []string{"count", "namespace", "consumer", "source_kind", "event_type", "reason", "oldest", "newest"},
		Order: "count desc, namespace, consumer, event_type, reason, source_kind",
	}
}

// DeadLetter selects one whole by its id, resolved or not.
const DeadLetter = `select * from core.dead_letters where dead_letter_id = $1::bigint`

// NotPending selects, of ids, those that are no unresolved dead letter, or none that the caller may see.
const NotPending = `select id from pg_catalog.unnest($1::bigint[]) with ordinality u(id, n)
	where not exists (select from core.unresolved_dead_letters l where l.dead_letter_id = u.id) order by n`
