-- All keys of a call at once: a call for each would cost more than what it does.
create or replace function core_private.lanes_of_keys(p_keys text[], p_lanes integer)
returns integer[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_keys is null then
        return null;
    end if;
    return array(
        select core_private.lane_of_key(u.k, p_lanes)
          from unnest(p_keys) u(k));
end $$;
comment on function core_private.lanes_of_keys(text[], integer) is 'The lanes of keys, in their order; NULL for a key that is NULL.';
