package readmodel

// OutboxQueues lists outbox queues with their settings.
func OutboxQueues(namespace string) List {
	return List{
		What: "list outbox queues",
		SQL: `select namespace, queue, state, lanes, strict, profile, exhausted, max_body_bytes, created_at
		   from core.outbox_status where $1::text = '' or namespace = $1::text`,
		Args:  []any{namespace},
		Names: []string{"namespace", "queue", "state", "lanes", "strict", "profile", "exhausted", "max_body_bytes", "created_at"},
		Keys:  []Key{{"namespace", "text"}, {"queue", "text"}},
	}
}

// Lanes lists the lanes of a queue.
func Lanes(namespace, queue string) List {
	l := List{
		What: "list lanes",
		SQL: `select namespace, lane, state, seq, lag, lag_time, attempts, why, last_error, blocked_since, next_at, locked_by, locked_until
		   from core.lane_status where queue = $2::text and ($1::text = '' or namespace = $1::text)`,
		Args: []any{namespace, queue},
		Names: []string{
			"namespace", "lane", "state", "seq", "lag", "lag_time", "attempts", "why", "last_error", "blocked_since", "next_at", "locked_by", "locked_until",
		},
		Keys: []Key{{"lane", "integer"}},
	}
	if namespace == "" {
		l.Keys = []Key{{"namespace", "text"}, {"lane", "integer"}}
	}
	return l
}

// HasLanes selects a row if there is an outbox queue or an ordered consumer of that name in the namespace, or, without one, in any.
const HasLanes = `select 1 as found from core.consumers
   where name = $2::text and ($1::text = '' or namespace = $1::text) and kind in ('outbox', 'ordered') limit 1`

// LanePartitions lists full partitions of messages of lanes, each with those that keep it.
func LanePartitions() List {
	return List{
		What: "list partitions of lanes",
		SQL: `select partition, bytes, full_at, emptied_at, kind, namespace, queue, lane, pid, name, role_name, application, state, age,
		        pg_catalog.concat_ws(' ', kind, pid, name) as keeper
		   from core.lane_partitions`,
		Names: []string{
			"partition", "bytes", "full_at", "emptied_at", "kind", "namespace", "queue", "lane", "pid", "name", "role_name", "application", "state", "age", "keeper",
		},
		Keys: []Key{{"partition", "text"}, {"keeper", "text"}},
	}
}
