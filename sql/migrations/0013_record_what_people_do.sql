-- What operators do to a running system, and what they ask of its nodes.

create table core.audit_log (
    audit_id     bigint generated always as identity primary key,
    happened_at  timestamptz not null,
    principal    text not null,
    application  text,
    action       text not null,
    namespace    text not null,
    target       text,
    reason       text,
    details      jsonb not null default '{}'
);
create index audit_log_happened_at_idx on core.audit_log (happened_at);
create index audit_log_namespace_idx on core.audit_log (namespace, audit_id desc);
comment on table core.audit_log is 'What people did to dead letters, queues and nodes, whichever tool did it; written by the functions that did it, kept 400 days.';
comment on column core.audit_log.principal is 'Session user, with the role set, if any.';
comment on column core.audit_log.application is 'application_name of the session.';
comment on column core.audit_log.action is 'The name of the function, without its schema.';
comment on column core.audit_log.target is 'The queue, node or dead letter; NULL where the details say what was picked.';
alter table core.audit_log enable row level security;

alter table core.nodes
    add column drain_requested_at timestamptz,
    add column session_pid        integer;
comment on column core.nodes.drain_requested_at is 'When somebody asked this incarnation to drain; it does so at once or with its next heartbeat.';
comment on column core.nodes.session_pid is 'Server process of the session that sent the last heartbeat. When that is gone the node was killed, and may come back under its id without waiting.';

-- The replay that a dead letter became, for core.event_status.
alter table core.dead_letters add column replay_msg_id bigint;
comment on column core.dead_letters.replay_msg_id is 'The message it was put back as; NULL while that waits in core.delayed, and for what is no delivery.';

-- Their results or arguments change.
drop function if exists core.replay_dead_letters(jsonb, jsonb);
drop function if exists core_private.filter_dead_letters(jsonb);
drop function if exists core_private.redeliver(bigint[], jsonb);
drop function if exists core_private.resolve_dead_letters(bigint[], text, text);
drop function if exists core_private.replay(bigint[], jsonb);
