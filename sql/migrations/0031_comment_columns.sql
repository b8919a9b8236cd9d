-- Every column says what it holds; a lint asks for it. Only the catalog is written.

comment on column core.audit_log.audit_id is 'Counts up; neither the order of calls nor of commits.';
comment on column core.audit_log.happened_at is 'Database clock at the call.';
comment on column core.audit_log.namespace is 'The namespace it was done in.';
comment on column core.audit_log.reason is 'What the caller gave as the reason; NULL where the function takes none or got none.';
comment on column core.audit_log.details is 'What else the function tells of it: ids, filters, counts. Its keys are those of the action.';

comment on column core.consumers.consumer_id is 'Its number in this database.';
comment on column core.consumers.namespace is 'The namespace whose events it gets.';
comment on column core.consumers.name is 'Unique in the namespace; "default" gets every event.';
comment on column core.consumers.kind is 'unordered: a queue of its own. ordered, outbox: lanes, which come later.';
comment on column core.consumers.queue_name is 'The physical queue of an unordered consumer; NULL for other kinds.';
comment on column core.consumers.state is 'active; paused or halted: it gets its events, and nobody is given any.';
comment on column core.consumers.lanes is 'How many lanes an ordered consumer has, 1 to 4096; NULL for unordered ones.';
comment on column core.consumers.generation is 'Counts the times its lanes were cut anew; 1 at first.';
comment on column core.consumers.max_in_flight is 'Most deliveries in hand at once, over all nodes; NULL: no limit.';
comment on column core.consumers.unhandled_after is 'As that of the namespace, which holds where this is NULL.';
comment on column core.consumers.retry is 'Retry policy of this consumer; a missing key takes that of the namespace.';
comment on column core.consumers.created_at is 'Database clock; events from before never went to it.';

comment on column core.dead_letters.dead_letter_id is 'Identifies it; what core.replay_dead_letter and the others take.';
comment on column core.dead_letters.namespace is 'The namespace it belongs to.';
comment on column core.dead_letters.consumer is 'The consumer whose delivery it was; NULL for what is none.';
comment on column core.dead_letters.event_type is 'Event type of the event; unknown.raw for a message that was no envelope.';
comment on column core.dead_letters.source_kind is 'What was given up: delivery; task: a one-shot event that could not be emitted; the others come later.';
comment on column core.dead_letters.queue_name is 'The queue it was taken from; NULL for what is no delivery.';
comment on column core.dead_letters.msg_id is 'The message it was on that queue; NULL for what is no delivery.';
comment on column core.dead_letters.event_id is 'event_id of the log; NULL where the message named none.';
comment on column core.dead_letters.event_uid is 'event_uid of the event; schedule_id of a one-shot event; NULL where the message named none.';
comment on column core.dead_letters.payload is 'Payload of the event, or the whole message that was no envelope.';
comment on column core.dead_letters.body is 'What was no JSON; payload is NULL then. Comes with lanes.';
comment on column core.dead_letters.body_type is 'Content type of body.';
comment on column core.dead_letters.attempts is 'Attempts that were used up.';
comment on column core.dead_letters.first_attempt_at is 'When the first attempt began, as far as it is known.';
comment on column core.dead_letters.last_attempt_at is 'When the last attempt began; NULL if there was none.';
comment on column core.dead_letters.failed_at is 'Database clock when it was given up.';
comment on column core.dead_letters.reason is 'Why, in a word or two: error, panic, timeout, what a handler that rejected it said …';
comment on column core.dead_letters.last_error is 'Error text of the last attempt, at most 8 KB; the reason where there was none.';
comment on column core.dead_letters.lane is 'The lane it was in. Comes with ordered consumers.';
comment on column core.dead_letters.lane_seq is 'Its place in that lane.';
comment on column core.dead_letters.ordering_key is 'ordering_key of the event, if it has one.';
comment on column core.dead_letters.status is 'pending; reprocessing: claimed by a handler of dead letters; resolved.';
comment on column core.dead_letters.deadline is 'Until when that claim holds; NULL while there is none.';
comment on column core.dead_letters.claim_token is 'What proves that claim; NULL while there is none.';
comment on column core.dead_letters.resolution is 'How it was settled: replayed, ignored, handled_by_handler, discarded, expired, or cancelled (a delivery that somebody took back); NULL while it is not.';
comment on column core.dead_letters.resolved_at is 'Database clock when it was settled; NULL while it is not.';
comment on column core.dead_letters.resolved_reason is 'What was given as the reason for settling it so.';

comment on column core.delayed.delayed_id is 'Counts up; the order of arrival here.';
comment on column core.delayed.due_at is 'When it goes to its queue.';
comment on column core.delayed.queue_name is 'The queue it goes to.';
comment on column core.delayed.event_type is 'Event type of the message; unknown.raw for one that is no envelope.';
comment on column core.delayed.message is 'The message as it will be on the queue.';
comment on column core.delayed.headers is 'Its headers, those of Nexus (nexus-…) among them.';
comment on column core.delayed.read_ct is 'How often it was claimed; NULL for what has not been on the queue yet.';
comment on column core.delayed.enqueued_at is 'When it came to the queue first; NULL for what has not been there yet.';
comment on column core.delayed.last_read_at is 'When it was claimed last; NULL if it never was.';

comment on column core.delivery_errors.error_id is 'Counts up; about the order of failures.';
comment on column core.delivery_errors.namespace is 'The namespace of the queue.';
comment on column core.delivery_errors.consumer is 'The consumer whose delivery it was.';
comment on column core.delivery_errors.queue_name is 'The queue it was on.';
comment on column core.delivery_errors.msg_id is 'The message on that queue.';
comment on column core.delivery_errors.event_id is 'event_id of the log; NULL where the message named none.';
comment on column core.delivery_errors.event_uid is 'event_uid of the event; NULL where the message named none.';
comment on column core.delivery_errors.event_type is 'Event type of the event; unknown.raw for a message that was no envelope.';
comment on column core.delivery_errors.attempt is 'Which attempt failed; 1 is the first.';
comment on column core.delivery_errors.action is 'What became of it: retry: it is tried again; bury: it became a dead letter.';
comment on column core.delivery_errors.reason is 'Why, in a word or two; NULL where nothing was said.';
comment on column core.delivery_errors.error is 'Error text of the handler, or the reason where there was none.';
comment on column core.delivery_errors.node_id is 'The node that had it; NULL where none did.';
comment on column core.delivery_errors.failed_at is 'Database clock when it was settled.';

comment on column core.error_codes.code is 'SQLSTATE of the error.';
comment on column core.error_codes.meaning is 'What it says.';
comment on column core.error_codes.mend is 'What to do about it.';

comment on column core.event_keys.namespace is 'A key is one namespace''s.';
comment on column core.event_keys.key is 'The dedupe_key that emit was given.';
comment on column core.event_keys.event_id is 'event_id of the event that was emitted under it.';
comment on column core.event_keys.event_uid is 'event_uid of that event.';
comment on column core.event_keys.expires_at is 'From then on the key may be used for another event.';

comment on column core.event_log.namespace is 'The namespace it was emitted in.';
comment on column core.event_log.event_type is 'What happened, in the words of the namespace.';
comment on column core.event_log.payload is 'What the emitter gave with it.';
comment on column core.event_log.producer_node_id is 'The node, or whatever name the emitter gave as producer; NULL if it gave none.';
comment on column core.event_log.scheduled_task_id is 'The recurring task whose event it is; NULL for others.';
comment on column core.event_log.event_uid is 'Unique in the world. A slot of a task and a one-shot event have one that is known beforehand.';
comment on column core.event_log.slot is 'The slot of the task for which it fired; NULL for others and for runs that people asked for.';
comment on column core.event_log.correlation_id is 'What the emitter gave to find events of one affair by.';
comment on column core.event_log.causation_uid is 'event_uid of the event that led to this one; NULL where none is known.';
comment on column core.event_log.ordering_key is 'Events with one key keep their order at ordered consumers, which come later.';
comment on column core.event_log.tags is 'Words the emitter gave to find it by.';
comment on column core.event_log.headers is 'Headers the emitter gave; they go with each delivery.';

comment on column core.namespace_grants.namespace is 'The restricted namespace.';
comment on column core.namespace_grants.duty is 'produce, consume, operate (which includes read) or read.';
comment on column core.namespace_grants.granted_by is 'Who gave it: the session user, with the role set, if any.';
comment on column core.namespace_grants.granted_at is 'Database clock when it was given.';

comment on column core.namespaces.namespace is 'Its name: up to 30 of a-z, 0-9, "_" and "-".';
comment on column core.namespaces.created_at is 'Database clock when it was created.';
comment on column core.namespaces.metadata is 'What its owners want to note there. Nexus reads none of it.';
comment on column core.namespaces.updated_at is 'Database clock when its options were changed last, or created_at.';

comment on column core.nodes.node_id is 'Unique in the database.';
comment on column core.nodes.namespace is 'The namespace it works for.';
comment on column core.nodes.display_name is 'A name for people.';
comment on column core.nodes.description is 'A sentence for people.';
comment on column core.nodes.metadata is 'What the node tells of itself, such as its host and process.';
comment on column core.nodes.registered_at is 'Database clock when this incarnation registered.';
comment on column core.nodes.last_heartbeat is 'Database clock of its last sign of life.';
comment on column core.nodes.incarnation is 'One life of the node: another value after each start.';
comment on column core.nodes.version is 'Version of the program, as it told.';
comment on column core.nodes.heartbeat_every is 'Time between heartbeats. After three of them without one the node counts as lost.';
comment on column core.nodes.principal is 'Who registered it: the session user, with the role set, if any.';

comment on column core.parked.event_type is 'Event type of the message, which nobody handles.';
comment on column core.parked.msg_id is 'The message it was on the queue, and will be again.';
comment on column core.parked.namespace is 'The namespace of the queue.';
comment on column core.parked.read_ct is 'How often it had been claimed.';
comment on column core.parked.enqueued_at is 'When it came to the queue.';
comment on column core.parked.last_read_at is 'When it was claimed last; NULL if it never was.';
comment on column core.parked.message is 'The message as it was.';
comment on column core.parked.headers is 'Its headers, those of Nexus (nexus-…) among them.';
comment on column core.parked.parked_at is 'Database clock when it was taken off the queue.';

comment on column core.queues.queue_name is 'Its name in pgmq: the table is pgmq.q_ and this.';
comment on column core.queues.namespace is 'The namespace whose events it carries.';
comment on column core.queues.created_at is 'Database clock when it was registered.';

comment on column core.scheduled_events.namespace is 'The namespace it is emitted in.';
comment on column core.scheduled_events.status is 'pending; appended: it is in the log; cancelled; failed: attempts used up, it is a dead letter.';
comment on column core.scheduled_events.event_type is 'Event type of the event to come.';
comment on column core.scheduled_events.tags is 'Tags of the event to come.';
comment on column core.scheduled_events.payload is 'Payload of the event to come.';
comment on column core.scheduled_events.created_at is 'Database clock when it was scheduled.';
comment on column core.scheduled_events.payload_bytes is 'Size of the payload in its text form, in bytes.';
comment on column core.scheduled_events.first_failed_at is 'When it could not be emitted for the first time; NULL if it never failed.';
comment on column core.scheduled_events.last_error is 'SQLSTATE and text of the last failure; NULL once it is in the log.';
comment on column core.scheduled_events.depth is 'How many events lie between this one and the first of its chain.';

comment on column core.scheduled_tasks.task_id is 'Identifies the task; scheduledTaskId of its events.';
comment on column core.scheduled_tasks.namespace is 'The namespace its events are emitted in.';
comment on column core.scheduled_tasks.name is 'Unique in the namespace, up to 200 bytes.';
comment on column core.scheduled_tasks.event_type is 'Event type of its events.';
comment on column core.scheduled_tasks.payload is 'Payload of its events.';
comment on column core.scheduled_tasks.timezone is 'IANA name of the time zone in which the expression is read.';
comment on column core.scheduled_tasks.active is 'Whether it fires; false while paused.';
comment on column core.scheduled_tasks.created_at is 'Database clock when it was created.';
comment on column core.scheduled_tasks.updated_at is 'Database clock when it was changed last.';
comment on column core.scheduled_tasks.starts_at is 'No slot before this time; NULL: no limit.';
comment on column core.scheduled_tasks.ends_at is 'No slot after this time; NULL: no limit.';
comment on column core.scheduled_tasks.last_slot is 'The slot that fired last.';
comment on column core.scheduled_tasks.last_run_at is 'Database clock when it fired last.';
comment on column core.scheduled_tasks.last_error is 'SQLSTATE and text of the last failed firing; NULL after a good one.';

comment on column core.task_runs.run_id is 'Counts up.';
comment on column core.task_runs.task_id is 'The task; its row may be gone.';
comment on column core.task_runs.namespace is 'The namespace of the task.';
comment on column core.task_runs.ran_at is 'Database clock at the call.';
comment on column core.task_runs.ran_by is 'Who asked for it: the session user, with the role set, if any.';
comment on column core.task_runs.event_id is 'event_id of the event in the log.';
comment on column core.task_runs.event_uid is 'event_uid of that event.';

comment on column core.task_slots.task_id is 'The task; its row may be gone.';
comment on column core.task_slots.slot is 'The time the expression names.';
comment on column core.task_slots.namespace is 'The namespace of the task.';
comment on column core.task_slots.reason is 'Why it was skipped, missed or waits; NULL where it fired.';
comment on column core.task_slots.event_id is 'event_id of the event in the log; NULL unless it fired.';
comment on column core.task_slots.event_uid is 'event_uid of that event; NULL unless it fired.';
comment on column core.task_slots.recorded_at is 'Database clock when this was written.';

comment on column core_private.cron_slots.n is 'Number of the job among those that tasks may have, from 1.';
comment on column core_private.cron_slots.task_id is 'The task that has it; NULL while it is free.';

comment on column core_private.deployments.owner is 'The owner that the tasks of a deployment name.';
comment on column core_private.deployments.namespace is 'A namespace in which it has declared tasks.';

comment on column core_private.express_batches.queue_name is 'The queue the batch was taken from.';
comment on column core_private.express_batches.marker_id is 'Counts up; nodes look from the last one they know on.';
comment on column core_private.express_batches.node_id is 'The node that has the batch; empty if it gave none.';
comment on column core_private.express_batches.lowest is 'Lowest msg_id of the batch.';
comment on column core_private.express_batches.highest is 'Highest msg_id of the batch.';
comment on column core_private.express_batches.opened_at is 'Database clock when it was marked, before its handlers ran.';

comment on column core_private.fire_floor.singleton is 'true; there is one row.';
comment on column core_private.fire_floor.floor is 'Claims begin to look here: no pending event is due before, but for what committed late.';
comment on column core_private.fire_floor.swept_at is 'When a claim looked from the beginning last.';

comment on column core_private.metric_samples.namespace is 'The namespace it is about.';
comment on column core_private.metric_samples.sample is 'What was found, as core.metrics_sample() gives it.';

comment on column core_private.node_capabilities.node_id is 'The node.';
comment on column core_private.node_capabilities.incarnation is 'Its life that can do it.';
comment on column core_private.node_capabilities.kind is 'event_type, later workflow.';
comment on column core_private.node_capabilities.key is 'A pattern of event types; for other kinds what identifies it.';

comment on column core_private.parking.queue_name is 'The queue that is searched.';

comment on column core_private.queue_grants.queue_name is 'The queue.';
comment on column core_private.queue_grants.role is 'The role that has the rights.';

comment on column core_private.scheduler.id is 'true; there is one row.';
comment on column core_private.scheduler.max_cron_jobs is 'How many tasks may have a job of their own in pg_cron, 0 to 1000.';
comment on column core_private.scheduler.keep_slots is 'How long core.task_slots and core.task_runs are kept.';

comment on column core_private.sweeps.name is 'What it is called in core.sweep_status and core.run_sweep.';
comment on column core_private.sweeps.function is 'The call that it runs.';
comment on column core_private.sweeps.every is 'How often it is due.';
comment on column core_private.sweeps.position is 'In which order those that are due run.';
comment on column core_private.sweeps.enabled is 'Whether it runs at all.';
comment on column core_private.sweeps.last_started_at is 'Database clock when it began last.';
comment on column core_private.sweeps.last_ok_at is 'Database clock when it last went well; NULL before it ever did.';
comment on column core_private.sweeps.last_ms is 'How long the last run took, in milliseconds.';
comment on column core_private.sweeps.last_result is 'What the last good run returned.';
comment on column core_private.sweeps.last_error is 'SQLSTATE and text of the last run; NULL if it went well.';

comment on column core_private.task_deliveries.queue_name is 'The queue the delivery is on.';
comment on column core_private.task_deliveries.msg_id is 'The message on that queue.';
comment on column core_private.task_deliveries.task_id is 'The task whose event it is.';
comment on column core_private.task_deliveries.event_id is 'event_id of that event.';

comment on column core_private.timezones.name is 'IANA name, as pg_timezone_names spells it.';

comment on column core_private.wake_flags.key is 'Name of a queue, or "timers".';
comment on column core_private.wake_flags.waiting_until is 'Somebody listens until then; emit notifies only before.';
