package readmodel

import "time"

// Triggers lists what has events delivered to handlers, with what is in its way.
func Triggers(namespace string) List {
	return List{
		What: "list triggers",
		SQL: `select namespace, name, kind, enabled, held, source, target, consumer, handled, principal_ok, failures, dead, drops, match_back
		   from core.trigger_status where $1::text = '' or namespace = $1::text`,
		Args:  []any{namespace},
		Names: []string{"namespace", "name", "kind", "enabled", "held", "source", "target", "consumer", "handled", "principal_ok", "failures", "dead", "drops", "match_back"},
		Keys:  []Key{{"namespace", "text"}, {"name", "text"}},
	}
}

// Trigger selects all of one.
const Trigger = `select * from core.trigger_status where namespace = $1::text and name = $2::text`

// Handlers lists what triggers and requests name by key: the function or URL that it is, the triggers that name it, and the live nodes that say they have it.
// One of a function needs none, and one of a workflow any.
func Handlers(namespace string) List {
	return List{
		What: "list handlers by key",
		SQL: `select h.namespace, h.key, coalesce(h.function, h.url) as runs, h.owner::text, h.registered_by::text,
		       (select count(*) from core.triggers t where t.namespace = h.namespace and t.target = h.key) as triggers,
		       (select coalesce(pg_catalog.jsonb_agg(n.node_id order by n.node_id), '[]') from core.node_status n
		         where n.namespace = h.namespace and n.alive and n.event_types ? h.key) as nodes
		   from core.handlers h where $1::text = '' or h.namespace = $1::text`,
		Args:  []any{namespace},
		Names: []string{"namespace", "key", "runs", "owner", "registered_by", "triggers", "nodes"},
		Keys:  []Key{{"namespace", "text"}, {"key", "text"}},
	}
}

// TriggersSince counts for each trigger the events of the log since a time that it would fire for now, each judged as by core.test_triggers, and of the
// others the commonest reason.
func TriggersSince(namespace string, since time.Time) List {
	return List{
		What: "test triggers",
		SQL: `select t.name, t.target, coalesce(c.fires, 0) as fires, coalesce(c.events, 0) as events, coalesce(c.why, '') as why
		   from core.triggers t
		   left join (select v.trigger_id, count(*) filter (where v.fires) as fires, count(*) as events, mode() within group (order by v.why) as why
		                from core.event_log l
		               cross join lateral core.test_triggers(l.namespace, l.event_type, l.payload, l.depth) v
		               where l.namespace = $1::text and l.emitted_at >= $2::timestamptz
		               group by v.trigger_id) c on c.trigger_id = t.trigger_id
		  where t.namespace = $1::text`,
		Args:  []any{namespace, since},
		Names: []string{"name", "target", "fires", "events", "why"},
		Keys:  []Key{{"name", "text"}},
	}
}
