-- Not pinned, so that it is inlined, and named in full for that.
create or replace function core_private.uuid_if_valid(p_text text)
returns uuid
language sql immutable
as $$
    select case when p_text operator(pg_catalog.~*) '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                then p_text::pg_catalog.uuid end
$$;
comment on function core_private.uuid_if_valid(text) is 'The uuid that a text spells in the usual way, with hyphens; NULL for any other text.';
