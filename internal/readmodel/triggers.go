package readmodel

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
