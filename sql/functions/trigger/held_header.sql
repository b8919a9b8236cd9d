-- Not pinned, so that it is inlined. Times are whatever somebody sent by hand.
create or replace function core_private.held_header(p_due_at timestamptz)
returns jsonb
language sql immutable parallel safe
as $$
    select pg_catalog.jsonb_build_object('nexus-held', greatest(0, least(9999999999999999,
               extract(epoch from p_due_at) operator(pg_catalog.*) 1000000))::pg_catalog.int8)
$$;
comment on function core_private.held_header(timestamptz) is 'The header of a delivery that is held: when it would have been due.';
