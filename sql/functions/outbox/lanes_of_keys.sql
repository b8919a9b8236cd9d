-- By SHA-256, which every language has, so that others can tell the lane of a key as well. All keys of a call at once:
-- a call for each would cost more than what it does.
create or replace function core_private.lanes_of_keys(p_keys text[], p_lanes integer)
returns integer[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_keys is null then
        return null;
    end if;
    return array(
        select (('x' || left(encode(sha256(convert_to(u.k, 'UTF8')), 'hex'), 8))::bit(32)::bigint % p_lanes)::integer
          from unnest(p_keys) u(k));
end $$;
comment on function core_private.lanes_of_keys(text[], integer) is 'The lanes of keys, in their order: the first four bytes of the SHA-256 of a key''s UTF-8, the greatest first, modulo the number of lanes. NULL for a key that is NULL.';
