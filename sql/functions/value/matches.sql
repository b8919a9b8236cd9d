-- One matcher for consumers, claims and triggers; its Go twin is consume.Matches. Not pinned, so that it is
-- inlined: asked of each event of a batch for each pattern, it cost more than the insert.
create or replace function core_private.matches(p_pattern text, p_event_type text)
returns boolean
language sql immutable parallel safe
as $$
    select p_pattern operator(pg_catalog.=) '*'
        or p_pattern operator(pg_catalog.=) p_event_type
        or pg_catalog.right(p_pattern, 2) operator(pg_catalog.=) any (array['.*', ':*'])
           and pg_catalog.starts_with(p_event_type, pg_catalog.left(p_pattern, -1))
$$;
comment on function core_private.matches(text, text) is 'Whether an event type matches a pattern: exact, prefix.*, prefix:* or *.';
