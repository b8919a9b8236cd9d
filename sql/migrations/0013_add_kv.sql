-- Keys with values, by collection. Written by the functions of core alone, and read through the view core.kv, which
-- leaves out what has expired.

create sequence core_private.kv_version_seq as bigint;

-- Keys are in the order of their bytes whatever the collation of the database is, so that the primary key serves
-- prefixes and pages.
create table core.kv_entries (
    namespace   text not null references core.namespaces on delete cascade,
    collection  text collate "C" not null,
    key         text collate "C" not null,
    value       jsonb not null,
    version     bigint not null,
    created_at  timestamptz not null,
    updated_at  timestamptz not null,
    expires_at  timestamptz,
    updated_by  text not null,
    primary key (namespace, collection, key)
);
create index kv_entries_expires_at_idx on core.kv_entries (expires_at) where expires_at is not null;
alter table core.kv_entries enable row level security;
comment on table core.kv_entries is 'One row a key, expired ones until a sweep removes them. Read them through core.kv.';
comment on column core.kv_entries.namespace is 'Its namespace. The key goes with it.';
comment on column core.kv_entries.collection is 'Its collection; there is one as long as it has keys.';
comment on column core.kv_entries.key is 'Its name, unique in the collection.';
comment on column core.kv_entries.value is 'What it holds.';
comment on column core.kv_entries.version is 'Another one after each change, and never one that the key had before, also not when it is made anew. Later ones are greater.';
comment on column core.kv_entries.created_at is 'Database clock when it was made; anew, if it had expired or was deleted.';
comment on column core.kv_entries.updated_at is 'Database clock when it was last changed.';
comment on column core.kv_entries.expires_at is 'From then on there is no such key; NULL: it stays.';
comment on column core.kv_entries.updated_by is 'Who changed it: the session user, with the role set, if any.';

insert into core.error_codes (code, meaning, remedy) values
    ('NX016', 'not a collection or key of the key-value store', 'A collection is up to 100 of A-Z, a-z, 0-9 and ". _ : / -", a letter or digit first; a key is up to 512 bytes without control characters.');
