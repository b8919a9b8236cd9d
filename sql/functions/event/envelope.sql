-- Not pinned, so that it is inlined: each call of a pinned function makes the search path be worked out anew. Most
-- events have none of the later fields. No nullif here: its = would be looked up in the caller's path.
create or replace function core_private.envelope(
    p_namespace text, p_event_type text, p_payload jsonb, p_emitted_at timestamptz,
    p_event_id bigint, p_event_uid uuid, p_producer text,
    p_ordering_key text, p_correlation_id text, p_causation_uid uuid, p_broadcast boolean,
    p_authored_at timestamptz, p_tags text[], p_depth integer)
returns jsonb
language sql stable
as $$
    select case
        when pg_catalog.num_nonnulls(
                 p_ordering_key, p_correlation_id, p_causation_uid, p_authored_at, p_tags,
                 case when p_broadcast then true end,
                 case when p_depth operator(pg_catalog.<>) 0 then p_depth end) operator(pg_catalog.=) 0
        then pg_catalog.to_jsonb(row(
                 p_namespace, p_event_type, p_payload, core_private.iso(p_emitted_at), p_producer, p_event_id,
                 p_event_uid)::core_private.plain_message)
        else pg_catalog.to_jsonb(row(
                 p_namespace, p_event_type, p_payload, core_private.iso(p_emitted_at), p_producer, p_event_id,
                 p_event_uid)::core_private.plain_message)
             operator(pg_catalog.||)
             pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
                 'orderingKey', p_ordering_key, 'correlationId', p_correlation_id,
                 'causationUid', p_causation_uid, 'broadcast', case when p_broadcast then true end,
                 'authoredAt', core_private.iso(p_authored_at), 'tags', pg_catalog.to_jsonb(p_tags),
                 'depth', case when p_depth operator(pg_catalog.<>) 0 then p_depth end))
        end
$$;
comment on function core_private.envelope(text, text, jsonb, timestamptz, bigint, uuid, text, text, text, uuid, boolean, timestamptz, text[], integer) is 'The message of an event on a queue.';
