-- A failure is recorded whatever its text holds. The longest character has four bytes. Not pinned, so that it is
-- inlined.
create or replace function core_private.clean_text(p_text text)
returns text
language sql immutable parallel safe
as $$
    select case when pg_catalog.octet_length(p_text) operator(pg_catalog.<=) 8192 then p_text
                when pg_catalog.octet_length(pg_catalog.left(p_text, 8188)) operator(pg_catalog.<=) 8188
                then pg_catalog.left(p_text, 8188) operator(pg_catalog.||) '…'
                else pg_catalog.left(p_text, 2047) operator(pg_catalog.||) '…' end
$$;
comment on function core_private.clean_text(text) is 'The text, cut to at most 8 KB.';
