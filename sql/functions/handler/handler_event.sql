create or replace function core_private.handler_event(
    p_namespace text, p_consumer text, p_msg_id bigint, p_read_ct integer, p_message jsonb, p_headers jsonb)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select case when core_private.event_type_of(p_message) is null
                then jsonb_build_object('namespace', p_namespace, 'eventType', 'unknown.raw',
                                        'payload', coalesce(p_message, 'null'))
                else p_message || jsonb_build_object('eventType', core_private.own_type_of(p_message)) end
           || case when core_private.target_of(p_message) is null then '{}'
                   else jsonb_build_object('target', core_private.target_of(p_message)) end
           || jsonb_build_object(
                  'consumer', p_consumer, 'messageId', p_msg_id, 'redeliveryCount', p_read_ct - 1,
                  'attempt', core_private.attempt_of(p_read_ct - 1, p_headers) + 1,
                  'headers', (select coalesce(jsonb_object_agg(h.key, h.value), '{}')
                                from jsonb_each(core_private.headers_object(p_headers)) h
                               where not h.key ^@ 'nexus-'))
$$;
comment on function core_private.handler_event(text, text, bigint, integer, jsonb, jsonb) is 'What an SQL handler is given of a delivery: the envelope, with consumer, target where it names its handler, messageId, redeliveryCount, attempt and headers.';
