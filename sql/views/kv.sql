create or replace view core.kv with (security_invoker = true) as
select k.namespace, k.collection, k.key, k.value, k.version, k.created_at, k.updated_at, k.expires_at, k.updated_by
  from core.kv_entries k
 where k.expires_at is null or k.expires_at > (select core.now());
comment on view core.kv is 'The key-value store: one row a key that has not expired. Write it by core.kv_set, core.kv_cas and core.kv_delete.';
comment on column core.kv.namespace is 'The namespace of the key.';
comment on column core.kv.collection is 'Its collection.';
comment on column core.kv.key is 'Its name in the collection. Sorted by bytes.';
comment on column core.kv.value is 'What it holds.';
comment on column core.kv.version is 'What core.kv_cas and core.kv_delete compare: another one after each change, never one that the key had before.';
comment on column core.kv.created_at is 'When it was made; anew, if it had expired or was deleted.';
comment on column core.kv.updated_at is 'When it was last changed.';
comment on column core.kv.expires_at is 'When it ends; NULL: never.';
comment on column core.kv.updated_by is 'Who changed it: the session user, with the role set, if any.';
