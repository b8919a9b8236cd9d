-- Late in a tick and for a second at most: who sets a key that is being removed waits for the tick to commit.
create or replace function core_private.expire_kv(p_limit integer = 10000)
returns integer
language sql
set search_path = pg_catalog, pg_temp
as $$
    select core_private.remove_old(
        'core.kv_entries', 'expires_at', core_private.now(), p_limit, clock_timestamp() + interval '1 second')
$$;
comment on function core_private.expire_kv(integer) is 'Removes keys that have expired, p_limit a statement, for a second at most; returns how many.';
