-- By SHA-256, which every language has, so that others can tell the lane of a key as well.
create or replace function core_private.lane_of_key(p_key text, p_lanes integer)
returns integer
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select ((get_byte(h, 0)::bigint << 24 | get_byte(h, 1) << 16 | get_byte(h, 2) << 8 | get_byte(h, 3))
            % p_lanes)::integer
      from (select sha256(convert_to(p_key, 'UTF8')) as h) x
$$;
comment on function core_private.lane_of_key(text, integer) is 'The lane of a key: the first four bytes of the SHA-256 of its UTF-8, the greatest first, modulo the number of lanes.';
