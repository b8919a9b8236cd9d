-- Running processes, what each can do, and who waits for a wake-up.

create table core.nodes (
    node_id          text primary key,
    namespace        text not null references core.namespaces on delete cascade,
    display_name     text,
    description      text,
    metadata         jsonb not null default '{}',
    registered_at    timestamptz not null default now(),
    last_heartbeat   timestamptz not null default now(),
    incarnation      uuid not null default gen_random_uuid(),
    state            text not null default 'starting' check (state in ('starting', 'active', 'draining', 'stopped', 'lost')),
    version          text,
    capabilities     jsonb not null default '{}',
    heartbeat_every  interval not null default interval '30 seconds' check (heartbeat_every > interval '0'),
    principal        text,
    unique (namespace, node_id)
);
create index nodes_namespace_idx on core.nodes (namespace);
comment on table core.nodes is 'One row a node id. A restart keeps the row and changes its incarnation.';
comment on column core.nodes.state is 'starting, active, draining, stopped (said goodbye) or lost (three heartbeats missed). Leases end by their own time, whatever the state.';
comment on column core.nodes.capabilities is 'A summary for people; what claims rest on is core_private.node_capabilities.';

create table core_private.node_capabilities (
    node_id      text not null references core.nodes on delete cascade,
    incarnation  uuid not null,
    kind         text not null check (kind in ('event_type', 'workflow')),
    key          text not null,
    primary key (node_id, incarnation, kind, key)
);
comment on table core_private.node_capabilities is 'What each live node can do: patterns of event types, later workflow definitions.';

-- A crash may empty it: whoever waits goes on polling, so a lost flag costs a second at most.
create unlogged table core_private.wake_flags (
    key            text primary key,
    waiting_until  timestamptz not null
) with (fillfactor = 50);
comment on table core_private.wake_flags is 'Keys (queues, later lanes and workflows) somebody waits for; emit notifies only then.';
