-- Handlers that deliveries name by key, and consumers that have such deliveries and no patterns.

alter table core.consumers
    add column routed boolean not null default false,
    add constraint consumers_routed_check check (not routed or patterns = '{}' and kind = 'unordered');
comment on column core.consumers.routed is 'Whether it has no patterns: each of its deliveries names a handler of core.handlers, whose key is its eventType.';

create table core.handlers (
    namespace      text not null references core.namespaces on delete cascade,
    key            text collate "C" not null,
    kind           text not null check (kind in ('go', 'sql', 'webhook', 'workflow')),
    function       text,
    owner          regrole,
    url            text,
    settings       jsonb not null default '{}',
    registered_by  regrole not null,
    created_by     text not null,
    created_at     timestamptz not null,
    primary key (namespace, key),
    check (starts_with(key, kind || ':')),
    check ((kind = 'sql') = (function is not null) and (kind = 'sql') = (owner is not null)),
    check ((kind = 'webhook') = (url is not null))
);
create index handlers_owner_idx on core.handlers (owner) where owner is not null;
alter table core.handlers enable row level security;
comment on table core.handlers is 'What deliveries of routed consumers can name: core.create_handler and core.drop_handler write it.';
comment on column core.handlers.namespace is 'The namespace whose deliveries name it.';
comment on column core.handlers.key is 'Its kind, a colon and its name: go:mail.';
comment on column core.handlers.kind is 'go (a handler of a node), sql (a function), webhook (a URL) or workflow.';
comment on column core.handlers.function is 'sql: the function with the types of its arguments, as regprocedure shows it.';
comment on column core.handlers.owner is 'sql: who owned the function when the handler was created, as whom it runs.';
comment on column core.handlers.url is 'webhook: where deliveries are POSTed.';
comment on column core.handlers.settings is 'What was asked for beside: timeout of an SQL handler; source, timeout, concurrency and insecure of a webhook.';
comment on column core.handlers.registered_by is 'The role that created it, or that named it first.';
comment on column core.handlers.created_by is 'The session user, with the role set, if any.';
comment on column core.handlers.created_at is 'Database clock when it was created.';

alter table core_private.webhook_secrets
    alter column consumer_id drop not null,
    add column namespace text,
    add column key text collate "C",
    add foreign key (namespace, key) references core.handlers on delete cascade,
    add constraint webhook_secrets_whose_check check (num_nonnulls(consumer_id, key) = 1 and (key is null) = (namespace is null));
create index webhook_secrets_namespace_key_idx on core_private.webhook_secrets (namespace, key);
comment on column core_private.webhook_secrets.consumer_id is 'Whose; NULL for that of a handler.';
comment on column core_private.webhook_secrets.namespace is 'The namespace of the handler whose it is; NULL for that of a consumer.';
comment on column core_private.webhook_secrets.key is 'The key of that handler.';
drop function if exists core_node.webhooks(text); -- it returns more

insert into core.error_codes (code, meaning, remedy) values
    ('NX111', 'no such handler', 'core.handlers has them; core.create_handler makes one.');
update core.error_codes
   set meaning = 'consumer, webhook or handler exists with other settings', remedy = 'Change it with core.alter_consumer or core.alter_webhook, or drop it first.'
 where code = 'NX212';
