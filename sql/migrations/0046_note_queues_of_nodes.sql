-- Nodes say which outbox queues they work, so that one whose messages nobody takes can be told from one that is idle.
alter table core_private.node_capabilities drop constraint node_capabilities_kind_check;
alter table core_private.node_capabilities
    add constraint node_capabilities_kind_check check (kind in ('event_type', 'workflow', 'outbox'));
comment on table core_private.node_capabilities is 'What each live node can do: patterns of event types, workflow definitions, outbox queues.';
comment on column core_private.node_capabilities.kind is 'event_type, workflow or outbox.';
comment on column core_private.node_capabilities.key is 'A pattern of event types, name#id of a definition, or an outbox queue.';

-- And a lane keeps when it was last found to have no more, which says of all others that somebody works the queue.
alter table core_private.lanes drop constraint lanes_check;
alter table core_private.lanes add constraint lanes_check check (token is null or locked_until is not null);
comment on column core_private.lanes.locked_until is 'When the lease of the holder ends; without one when the lane was found to have no more, or NULL.';
