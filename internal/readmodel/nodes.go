package readmodel

import "time"

// Nodes lists nodes with their state and last heartbeat.
func Nodes(namespace string) List {
	return List{
		What: "list nodes",
		SQL: `select node_id, namespace, state, alive, version, registered_at, last_heartbeat
		   from core.node_status
		  where $1::text = '' or namespace = $1::text`,
		Args:  []any{namespace},
		Names: []string{"node_id", "namespace", "state", "alive", "version", "registered_at", "last_heartbeat"},
		Keys:  []Key{{"namespace", "text"}, {"node_id", "text"}},
	}
}

// Cursors lists what nodes have read of the broadcasts of their namespaces.
func Cursors(namespace string) List {
	return List{
		What: "list cursors over broadcasts",
		SQL: `select node_id, namespace, state, unread, lag, in_hand, retrying, missed, last_error, reset_at
		   from core.broadcast_cursors
		  where $1::text = '' or namespace = $1::text`,
		Args:  []any{namespace},
		Names: []string{"node_id", "namespace", "state", "unread", "lag", "in_hand", "retrying", "missed", "last_error", "reset_at"},
		Keys:  []Key{{"namespace", "text"}, {"node_id", "text"}},
	}
}

// Sweeps lists the pieces of upkeep: when each last ran, how long it took, and why it failed.
func Sweeps() List {
	return List{
		What:  "list sweeps",
		SQL:   `select name, every, driven_by, enabled, overdue, last_ok_at, last_ms, failures, last_error from core.sweep_status`,
		Names: []string{"name", "every", "driven_by", "enabled", "overdue", "last_ok_at", "last_ms", "failures", "last_error"},
		Keys:  []Key{{"name", "text"}},
	}
}

// AuditFilter picks what people did. Zero fields match all.
type AuditFilter struct {
	Namespace string
	Action    string // the name of the function
	Since     time.Time
}

// Audit lists what people did, the latest first.
func Audit(f AuditFilter) List {
	l := List{
		What: "list the audit log",
		SQL: `select audit_id, happened_at, principal, application, action, namespace, target, reason, details
		   from core.audit_log where true`,
		Names: []string{"audit_id", "happened_at", "principal", "application", "action", "namespace", "target", "reason", "details"},
		Keys:  []Key{{"audit_id", "bigint"}},
		Desc:  true,
	}
	if f.Namespace != "" {
		l.Where("namespace = $%d::text", f.Namespace)
	}
	if f.Action != "" {
		l.Where("action = $%d::text", f.Action)
	}
	if !f.Since.IsZero() {
		l.Where("happened_at >= $%d::timestamptz", f.Since)
	}
	return l
}
