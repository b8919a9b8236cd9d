create or replace function core_private.check_fence_step(p_key text, p_ord integer[])
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_key is null or octet_length(p_key) not between 1 and 1000 or p_ord is null or cardinality(p_ord) = 0 then
        raise exception using errcode = 'NX006', column = 'p_key',
            message = format('there is no step %s at %s',
                quote_nullable(left(p_key, 100)), quote_nullable(p_ord::text)),
            hint = 'Give its key, 1 to 1,000 bytes, and its place.';
    end if;
end $$;
comment on function core_private.check_fence_step(text, integer[]) is 'Raises NX006 for a step without a key or a place.';
