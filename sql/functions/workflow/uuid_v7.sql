-- Not pinned, so that it is inlined. Of a UUID of version 4 chance stays from behind the version on. Ids of one
-- millisecond have no order.
create or replace function core_private.uuid_v7(p_now timestamptz)
returns uuid
language sql volatile parallel safe
as $$
    select (pg_catalog.lpad(
                pg_catalog.to_hex(
                    (pg_catalog.date_part('epoch', p_now) operator(pg_catalog.*) 1000)::pg_catalog.int8), 12, '0')
            operator(pg_catalog.||) '7'
            operator(pg_catalog.||)
            pg_catalog.substr(pg_catalog.gen_random_uuid()::pg_catalog.text, 16))::pg_catalog.uuid
$$;
comment on function core_private.uuid_v7(timestamptz) is 'A new UUID of version 7: the time in milliseconds, then chance.';
