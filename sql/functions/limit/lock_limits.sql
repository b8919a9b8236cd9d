-- Not waited for for long: who calls core.work holds it until his transaction ends.
create or replace function core_private.lock_limits(p_consumer_id integer)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
as $$
begin
    insert into core_private.consumer_limits (consumer_id, counts_from)
    values (p_consumer_id, core_private.now())
    on conflict do nothing;
    perform from core_private.consumer_limits l where l.consumer_id = p_consumer_id for update;
    return true;
exception
    when lock_not_available or foreign_key_violation then
        return false;
end $$;
comment on function core_private.lock_limits(integer) is 'Locks the limits of a consumer until the transaction ends; false where somebody keeps the lock, or the consumer is gone.';
