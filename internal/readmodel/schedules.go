package readmodel

// ScheduledEvents lists the scheduled events that have a status, the next one first; eventType is a type or a pattern, "": all.
func ScheduledEvents(namespace, status, eventType string) List {
	l := List{
		What: "list scheduled events",
		SQL: `select schedule_id, namespace, event_type, fire_at, due_at, attempts, last_error, event_id
		   from core.scheduled_events
		  where status = $1::text`,
		Args:  []any{status},
		Names: []string{"schedule_id", "namespace", "event_type", "fire_at", "due_at", "attempts", "last_error", "event_id"},
		Keys:  []Key{{"due_at", "timestamptz"}, {"schedule_id", "uuid"}},
	}
	switch {
	case namespace != "":
		l.Where("namespace = $%d::text", namespace)
		l.Each = "select"
	case status == "pending":
		l.Each = "select" // there is an index of these
	default:
		l.SQL += " and namespace = e.namespace"
		l.Each = "select namespace from core.namespaces"
	}
	l.OfType("event_type", eventType)
	return l
}

// ScheduledEvent selects one whole by its schedule_id, whatever became of it.
const ScheduledEvent = `select schedule_id, namespace, event_type, status, fire_at, due_at, payload, tags, metadata, version, message_timestamp, created_at,
	       attempts, first_failed_at, last_error, event_id, principal, depth, finished_at, finished_by
	  from core.scheduled_events where schedule_id = $1::text::uuid`

// Tasks lists recurring tasks: what comes next and how the last slot went. owner is who declared them, "": all.
func Tasks(namespace, owner string) List {
	return List{
		What: "list tasks",
		SQL: `select namespace, name, active, cron_expression, timezone, event_type, next_run_at, last_run_at, last_status, failures, last_error, owner
		   from core.task_status
		  where ($1::text = '' or namespace = $1::text) and ($2::text = '' or owner = $2::text)`,
		Args: []any{namespace, owner},
		Names: []string{
			"namespace", "name", "active", "cron_expression", "timezone", "event_type", "next_run_at", "last_run_at", "last_status", "failures",
			"last_error", "owner",
		},
		Keys: []Key{{"namespace", "text"}, {"name", "text"}},
	}
}

// Task selects one whole by its namespace and name.
const Task = `select s.*, t.payload, t.misfire, t.misfire_after, t.backfill, t.overlap, t.jitter, t.starts_at, t.ends_at, t.created_at, t.updated_at
	  from core.task_status s join core.scheduled_tasks t using (task_id)
	 where s.namespace = $1::text and s.name = $2::text`

// TaskID selects the id of a task by its namespace and name.
const TaskID = `select task_id from core.scheduled_tasks where namespace = $1::text and name = $2::text`

// TaskSlots lists what became of the slots of a task, the newest first.
func TaskSlots(taskID string) List {
	return List{
		What: "task history",
		SQL: `select slot, status, reason, until, lateness, event_id, event_uid, recorded_at
		   from core.task_slots where task_id = $1::text::uuid`,
		Args:  []any{taskID},
		Names: []string{"slot", "status", "reason", "until", "lateness", "event_id", "event_uid", "recorded_at"},
		Keys:  []Key{{"slot", "timestamptz"}},
		Desc:  true,
	}
}

// TaskRuns lists the runs of a task that people asked for, the newest first.
func TaskRuns(taskID string) List {
	return List{
		What:  "task history",
		SQL:   `select run_id, ran_at, ran_by, event_id, event_uid from core.task_runs where task_id = $1::text::uuid`,
		Args:  []any{taskID},
		Names: []string{"run_id", "ran_at", "ran_by", "event_id", "event_uid"},
		Keys:  []Key{{"ran_at", "timestamptz"}, {"run_id", "bigint"}},
		Desc:  true,
	}
}
