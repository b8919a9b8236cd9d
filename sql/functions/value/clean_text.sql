-- A failure is recorded whatever its text holds. The longest character has four bytes.
create or replace function core_private.clean_text(p_text text)
returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select case when octet_length(p_text) <= 8192 then p_text
                when octet_length(left(p_text, 8188)) <= 8188 then left(p_text, 8188) || '…'
                else left(p_text, 2047) || '…' end
$$;
comment on function core_private.clean_text(text) is 'The text, cut to at most 8 KB.';
