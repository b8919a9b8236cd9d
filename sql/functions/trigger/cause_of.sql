create or replace function core_private.cause_of(p_event jsonb)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(
        case when p_event ->> 'depth' ~ '^[0-9]{1,6}$' then p_event ->> 'depth' else '0' end
        || ' ' || core_private.uuid_if_valid(p_event ->> 'eventUid')
        || coalesce(' ' || nullif(left(p_event ->> 'correlationId', 200), ''), ''), '')
$$;
comment on function core_private.cause_of(jsonb) is 'What nexus.cause is while an event is handled: depth, uid and correlation id; empty for what has no uid.';
