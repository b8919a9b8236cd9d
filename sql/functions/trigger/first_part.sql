-- Not pinned, so that it is inlined.
create or replace function core_private.first_part(p_pattern text)
returns text
language sql immutable parallel safe
as $$
    select case when p_pattern operator(pg_catalog.=) '*' then '*'
                else '>' operator(pg_catalog.||)
                     pg_catalog.split_part(pg_catalog.translate(p_pattern, ':', '.'), '.', 1) end
$$;
comment on function core_private.first_part(text) is 'What patterns and the types that they match have in common: > and what stands before the first dot or colon; * for *.';
