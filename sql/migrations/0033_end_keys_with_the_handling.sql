-- Of a key that ends with its event: where the delivery is looked for. Settling knows nothing of keys, so it costs no
-- more; who wants the key looks.
alter table core.event_keys add column msg_id bigint;
comment on column core.event_keys.msg_id is 'With dedupe_while the message on the default queue: the key holds for as long as that is there, delayed or parked. NULL: it holds until expires_at.';
