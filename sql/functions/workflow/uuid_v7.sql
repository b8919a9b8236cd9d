-- PL/pgSQL, whose plan is kept. Ids of one millisecond have no order.
create or replace function core_private.uuid_v7(p_now timestamptz)
returns uuid
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    return encode(
        set_bit(set_bit(
            overlay(uuid_send(gen_random_uuid())
                placing substring(int8send((extract(epoch from p_now) * 1000)::bigint) from 3) from 1 for 6),
            52, 1), 53, 1), 'hex')::uuid;
end $$;
comment on function core_private.uuid_v7(timestamptz) is 'A new UUID of version 7: the time in milliseconds, then chance.';
