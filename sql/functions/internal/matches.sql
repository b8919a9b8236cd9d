-- One matcher for consumers, claims and triggers; its Go twin is consume.Matches.
create or replace function core_private.matches(p_pattern text, p_event_type text)
returns boolean
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select p_pattern = '*' or p_pattern = p_event_type
    or (right(p_pattern, 2) in ('.*', ':*') and starts_with(p_event_type, left(p_pattern, -1)))
$$;
comment on function core_private.matches(text, text) is 'Whether an event type matches a pattern: exact, prefix.*, prefix:* or *.';
