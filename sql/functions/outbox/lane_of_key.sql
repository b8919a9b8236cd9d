-- By SHA-256, which every language has, so that others can tell the lane of a key as well. Not pinned, so that it is
-- inlined: a call would cost more than what it does. It names everything in full.
create or replace function core_private.lane_of_key(p_key text, p_lanes integer)
returns integer
language sql stable parallel safe
as $$
    select pg_catalog.mod(
               ('x' operator(pg_catalog.||) pg_catalog.left(pg_catalog.encode(
                   pg_catalog.sha256(pg_catalog.convert_to(p_key, 'UTF8')), 'hex'), 8))::bit(32)::bigint,
               p_lanes::bigint)::integer
$$;
comment on function core_private.lane_of_key(text, integer) is 'The lane of a key: the first four bytes of the SHA-256 of its UTF-8, the greatest first, modulo the number of lanes. NULL for a key that is NULL.';
