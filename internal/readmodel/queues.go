package readmodel

// In all lists a namespace narrows them down to what is in it; "": all that the caller may see.

// Queues lists queues with their numbers. state is NULL where there are numbers; else the queue is locked or its table is missing.
func Queues(namespace string) List {
	return List{
		What: "list queues",
		SQL:  `select q.queue_name from core.queues q where $1::text = '' or q.namespace = $1::text`,
		Shown: `select p.queue_name, m.queue_length, m.visible, m.in_flight, m.waiting, m.delayed, m.parked, m.oldest_msg_age_seconds, m.length_is_estimate,
		          case when m.queue_length is not null then null
		               when exists (select from core.lost_queues l where l.queue_name = p.queue_name and 'queue' = any (l.missing)) then 'missing'
		               else 'locked' end as state
		   from p ` + queueCounts,
		Args: []any{namespace},
		Names: []string{
			"queue_name", "queue_length", "visible", "in_flight", "waiting", "delayed", "parked", "oldest_msg_age_seconds", "length_is_estimate",
			"state",
		},
		Keys: []Key{{"queue_name", "text"}},
	}
}

// QueueLength selects how long the queue of that name is.
const QueueLength = `select coalesce(queue_length, 0) as queue_length from core.queue_metrics where queue_name = $1::text`

// Consumers lists consumers with the numbers of their queues; backfill is the state of the latest, NULL where there was none.
func Consumers(namespace string) List {
	return List{
		What: "list consumers",
		SQL: `select c.namespace, c.name, c.kind, c.state, c.patterns, c.queue_name, c.max_in_flight, c.created_at
		   from core.consumers c where $1::text = '' or c.namespace = $1::text`,
		Shown: `select p.namespace, p.name, p.kind, p.state,
		          (select s.backfill from core.consumer_status s where s.namespace = p.namespace and s.consumer = p.name) as backfill,
		          p.patterns, p.queue_name, m.queue_length, m.in_flight, m.parked, p.max_in_flight, p.created_at
		   from p ` + queueCounts,
		Args: []any{namespace},
		Names: []string{
			"namespace", "name", "kind", "state", "backfill", "patterns", "queue_name", "queue_length", "in_flight", "parked", "max_in_flight", "created_at",
		},
		Keys: []Key{{"namespace", "text"}, {"name", "text"}},
	}
}

// queueCounts joins as m what core.queue_metrics has of the queue of a row p. One at a time, and known to be one at most, or the planner would have
// all queues counted first.
const queueCounts = "left join lateral (select distinct on (m.queue_name) m.* from core.queue_metrics m where m.queue_name = p.queue_name) m on true"

// Consumer selects all of one.
const Consumer = `select p.namespace, p.consumer as name, p.kind, p.state, p.patterns,
	       p.queue_name, m.queue_length, m.visible, m.in_flight, m.waiting, m.delayed, m.parked, m.length_is_estimate,
	       p.lanes, p.max_in_flight, p.rate, p.tokens, p.levels, p.unhandled_after, p.retry, p.exhausted, p.created_at, p.starts_from,
	       p.backfill, p.backfill_delivered, p.backfill_done_to, p.backfill_bound, p.backfill_waits_for, p.backfill_created_at
	  from core.consumer_status p ` + queueCounts + `
	 where p.namespace = $1::text and p.consumer = $2::text`

// Webhooks lists webhooks with how they go.
func Webhooks(namespace string) List {
	return List{
		What: "list webhooks",
		SQL: `select namespace, name, state, url, patterns, failing_since, last_delivered_at, last_error, paused_reason
		   from core.webhook_status where $1::text = '' or namespace = $1::text`,
		Args:  []any{namespace},
		Names: []string{"namespace", "name", "state", "url", "patterns", "failing_since", "last_delivered_at", "last_error", "paused_reason"},
		Keys:  []Key{{"namespace", "text"}, {"name", "text"}},
	}
}

// SQLHandlers lists handlers that are written in SQL, with why one is not called.
func SQLHandlers(namespace string) List {
	return List{
		What: "list handlers",
		SQL: `select namespace, consumer, patterns, function, owner, state, trouble, mend
		   from core.sql_handlers where $1::text = '' or namespace = $1::text`,
		Args:  []any{namespace},
		Names: []string{"namespace", "consumer", "patterns", "function", "owner", "state", "trouble", "mend"},
		Keys:  []Key{{"namespace", "text"}, {"consumer", "text"}},
	}
}

// SQLHandler selects all of one.
const SQLHandler = `select * from core.sql_handlers where namespace = $1::text and consumer = $2::text`

// IngressTokens lists tokens by which events are taken over HTTP.
func IngressTokens(namespace string) List {
	return List{
		What:  "list tokens",
		SQL:   `select namespace, name, token_id, created_at, created_by from core.ingress_tokens where $1::text = '' or namespace = $1::text`,
		Args:  []any{namespace},
		Names: []string{"namespace", "name", "token_id", "created_at", "created_by"},
		Keys:  []Key{{"namespace", "text"}, {"name", "text"}},
	}
}

// Webhook selects all of one.
const Webhook = `select w.*, m.queue_length from core.webhook_status w
	left join lateral (select distinct on (m.queue_name) m.queue_length from core.queue_metrics m where m.queue_name = w.queue_name) m on true
	where w.namespace = $1::text and w.name = $2::text`
