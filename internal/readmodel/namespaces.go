package readmodel

import "context"

// Visible reports whether the caller sees a namespace of this name.
func Visible(ctx context.Context, q Querier, namespace string) (bool, error) {
	records, err := Select(ctx, q, "look for the namespace", `select namespace from core.namespaces where namespace = $1::text`, namespace)
	return len(records) > 0, err
}

// Namespaces lists the namespace of that name; "": all that the caller may see.
func Namespaces(name string) List {
	return List{
		What:  "list namespaces",
		SQL:   `select namespace, created_at, metadata from core.namespaces where $1::text = '' or namespace = $1::text`,
		Args:  []any{name},
		Names: []string{"namespace", "created_at", "metadata"},
		Keys:  []Key{{"namespace", "text"}},
	}
}

// Namespace selects one whole by its name: its options, queues and grants.
const Namespace = `select n.namespace, n.created_at, n.updated_at, n.metadata, n.default_consumer, n.restricted, n.unhandled_after, n.dedupe_for, n.max_trigger_depth, n.trigger_retry, n.dead_letter_retention, n.abandoned_retention,
	       n.max_payload_bytes, n.retry,
	       array(select q.queue_name from core.queues q where q.namespace = n.namespace order by 1) as queues,
	       array(select pg_catalog.json_build_object('role', g.role_name, 'duty', g.duty, 'granted_by', g.granted_by, 'granted_at', g.granted_at)
	               from core.namespace_grants g where g.namespace = n.namespace order by g.role_name, g.duty) as grants
	  from core.namespaces n where n.namespace = $1::text`
