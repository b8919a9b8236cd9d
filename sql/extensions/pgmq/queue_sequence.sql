create or replace function core_private.queue_sequence(p_queue text)
returns regclass
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select pg_get_serial_sequence(core_private.queue_relation(p_queue), 'msg_id')::regclass
$$;
comment on function core_private.queue_sequence(text) is 'The sequence of a queue''s msg_id.';
