-- Whoever sends events by HTTP shows a token. What is kept is its sum.

create table core.ingress_tokens (
    token_id    uuid primary key,
    namespace   text not null references core.namespaces on delete cascade,
    name        text not null,
    sum         bytea not null,
    created_at  timestamptz not null,
    created_by  text not null,
    unique (namespace, name)
);
alter table core.ingress_tokens enable row level security;
comment on table core.ingress_tokens is 'Tokens by which events are taken over HTTP into a namespace.';
comment on column core.ingress_tokens.token_id is 'A part of the token, by which it is found.';
comment on column core.ingress_tokens.namespace is 'The namespace that its events go into.';
comment on column core.ingress_tokens.name is 'What it is for; unique in the namespace.';
comment on column core.ingress_tokens.sum is 'SHA-256 of the whole token.';
comment on column core.ingress_tokens.created_at is 'Database clock when it was made.';
comment on column core.ingress_tokens.created_by is 'Session user, with the role set, if any.';
