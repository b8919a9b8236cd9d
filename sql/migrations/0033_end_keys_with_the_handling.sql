-- Of a key that ends when its event has been handled: where the delivery is looked for. Settling knows nothing of keys, so it costs no
-- more; who wants the key looks.
alter table core.event_keys add column msg_id bigint;
comment on column core.event_keys.msg_id is 'With dedupe_while_pending the message on the default queue: the key holds for as long as that waits, is delayed, parked or being handled. NULL: it holds until expires_at.';
