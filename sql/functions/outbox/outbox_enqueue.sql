create or replace function core.outbox_enqueue(
    p_namespace text, p_queue text, p_body bytea, p_body_type text, p_key text = null, p_dedupe_key text = null,
    out message_id bigint, out lane integer, out duplicate boolean)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    select m.message_id, m.lane, m.duplicate
      into message_id, lane, duplicate
      from core_private.enqueue_many(
               p_namespace, p_queue, array[p_body], array[p_body_type], array[p_key],
               case when p_dedupe_key is not null then array[p_dedupe_key] end, false) m;
end $$;
comment on function core.outbox_enqueue(text, text, bytea, text, text, text) is 'Puts a message at the end of a lane of an outbox queue, in the caller''s transaction. Messages of one key are in one lane; without a key the message''s own id picks it, and nothing is promised about order. Of two messages with one dedupe key, while that is remembered (dedupe_for of the namespace), the second is a duplicate: nothing is enqueued, and message_id is NULL. Raises NX018, NX101, NX115, NX401, NX402, NX601; in a strict queue 40P01, after which the transaction is run again.';
