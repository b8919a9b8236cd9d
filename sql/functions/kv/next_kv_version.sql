-- Of a sequence, so that a key that is made anew never meets a version that it had. What a failover or a restore lost,
-- the sequence gives again: the twelve random bits keep such a version from being taken for the one that somebody
-- still holds. Up to 2^53, what JSON keeps exactly, there is room for 2^41 writes.
create or replace function core_private.next_kv_version()
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    return nextval('core_private.kv_version_seq') << 12 | floor(random() * 4096)::bigint;
end $$;
comment on function core_private.next_kv_version() is 'A version that no key has had, greater than those before.';
