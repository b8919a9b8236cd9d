-- A webhook is a named consumer whose events nodes POST to a URL. Its row goes with the consumer.

create table core.webhooks (
    consumer_id        integer primary key references core.consumers on delete cascade,
    namespace          text not null references core.namespaces on delete cascade,
    name               text not null,
    url                text not null,
    source             text,
    timeout            interval not null check (timeout between interval '1 second' and interval '5 minutes'),
    concurrency        integer not null check (concurrency between 1 and 1000),
    pause_after        interval not null check (pause_after >= interval '0'),
    insecure           boolean not null,
    created_at         timestamptz not null,
    failing_since      timestamptz,
    last_delivered_at  timestamptz,
    last_failed_at     timestamptz,
    last_error         text,
    paused_at          timestamptz,
    paused_reason      text,
    unique (namespace, name)
);
alter table core.webhooks enable row level security;
comment on table core.webhooks is 'Consumers whose events nodes POST to a URL, and how that goes. Their secrets are kept apart.';
comment on column core.webhooks.consumer_id is 'The consumer.';
comment on column core.webhooks.namespace is 'The namespace whose events it gets.';
comment on column core.webhooks.name is 'The name of the consumer.';
comment on column core.webhooks.url is 'Where its events go.';
comment on column core.webhooks.source is 'source of its CloudEvents; NULL: nexus: and the namespace.';
comment on column core.webhooks.timeout is 'How long one POST may take, with its answer.';
comment on column core.webhooks.concurrency is 'How many POSTs at once each node makes; max_in_flight of the consumer bounds all nodes.';
comment on column core.webhooks.pause_after is 'How long it may fail without a success before it is paused; 0: for ever.';
comment on column core.webhooks.insecure is 'Whether the URL may be one of http, which anyone on the way can read.';
comment on column core.webhooks.created_at is 'Database clock when it was created.';
comment on column core.webhooks.failing_since is 'The first failure after the last success, or after it was resumed; NULL: the last one known went well.';
comment on column core.webhooks.last_delivered_at is 'A success of the last ten seconds before the newest, or the newest.';
comment on column core.webhooks.last_failed_at is 'The newest failure.';
comment on column core.webhooks.last_error is 'Its error, at most 1 KB.';
comment on column core.webhooks.paused_at is 'When it was paused because it failed; NULL: it was not.';
comment on column core.webhooks.paused_reason is 'Why.';

create table core_private.webhook_secrets (
    secret_id    bigint generated always as identity primary key,
    consumer_id  integer not null references core.webhooks on delete cascade,
    secret       text not null,
    created_at   timestamptz not null,
    expires_at   timestamptz
);
create index webhook_secrets_consumer_id_idx on core_private.webhook_secrets (consumer_id);
comment on table core_private.webhook_secrets is 'What webhooks are signed with, as it is: nodes need it. A dump of the database holds it.';
comment on column core_private.webhook_secrets.secret_id is 'Counts up: the newest signs first.';
comment on column core_private.webhook_secrets.consumer_id is 'Whose.';
comment on column core_private.webhook_secrets.secret is 'whsec_ and 24 to 64 bytes in base64.';
comment on column core_private.webhook_secrets.created_at is 'Database clock when it was made.';
comment on column core_private.webhook_secrets.expires_at is 'It signs until then, beside the one that follows it; NULL: the one in force.';
