-- HTTP as a source of triggers, and triggers that make no deliveries: requests, and what runs in the transaction of who emits.

drop view if exists core.trigger_status; -- it has other columns

alter table core.triggers add column mode text not null default 'async' check (mode in ('async', 'sync'));
comment on column core.triggers.mode is 'async: it makes deliveries; sync: of kind http, requests whose reply is awaited; of other kinds it runs its function in the transaction that emits.';
comment on column core.triggers.kind is 'What its source is: event, kv, dead_letter, cron or http.';

create table core.http_trigger_details (
    trigger_id  uuid primary key references core.triggers on delete cascade,
    namespace   text not null references core.namespaces on delete cascade,
    method      text not null check (method in ('GET', 'POST', 'PUT', 'PATCH', 'DELETE')),
    path        text collate "C" not null,
    shape       text collate "C" not null,
    token_hash  bytea check (octet_length(token_hash) = 32),
    timeout     interval,
    unique (namespace, method, shape)
);
alter table core.http_trigger_details enable row level security;
comment on table core.http_trigger_details is 'What triggers of kind http go by. core.trigger_status shows it, but for the sums of tokens.';
comment on column core.http_trigger_details.trigger_id is 'The trigger.';
comment on column core.http_trigger_details.namespace is 'Its namespace.';
comment on column core.http_trigger_details.method is 'GET, POST, PUT, PATCH or DELETE.';
comment on column core.http_trigger_details.path is 'Its path, in which {name} stands for a segment.';
comment on column core.http_trigger_details.shape is 'Its path without the names: no two have one method and shape.';
comment on column core.http_trigger_details.token_hash is 'SHA-256 of its bearer token; NULL: it is public.';
comment on column core.http_trigger_details.timeout is 'How long a sync one waits for the reply; NULL: 30 s.';
