create or replace function core_private.outbox_key(p_namespace text, p_queue text)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select 'outbox ' || p_namespace || ' ' || p_queue
$$;
comment on function core_private.outbox_key(text, text) is 'The key of wake-ups for an outbox queue.';
