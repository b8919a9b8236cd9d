create or replace function core.outbox_enqueue_batch(
    p_namespace text, p_queue text, p_bodies bytea[], p_body_types text[], p_keys text[] = null,
    p_dedupe_keys text[] = null)
returns table (message_id bigint, lane integer, duplicate boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
        select m.*
          from core_private.enqueue_many(
                   p_namespace, p_queue, p_bodies, p_body_types, p_keys, p_dedupe_keys, true) m;
end $$;
comment on function core.outbox_enqueue_batch(text, text, bytea[], text[], text[], text[]) is 'core.outbox_enqueue for up to 10,000 messages, all or none; rows come back in input order, which is that of the messages in their lanes. Raises what core.outbox_enqueue raises, and NX006, NX602; the field names the element.';
