-- Not waited for for long: who calls core.work holds it until his transaction ends. A row that is missing is made only
-- while the consumer has limits, which whoever takes them away has locked.
create or replace function core_private.lock_limits(p_consumer_id integer)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
as $$
declare
    v_now timestamptz := core_private.now();
begin
    perform from core_private.consumer_limits l where l.consumer_id = p_consumer_id for update;
    if found then
        return true;
    end if;
    insert into core_private.consumer_limits (consumer_id, counts_from)
    select c.consumer_id, v_now
      from core.consumers c
     where c.consumer_id = p_consumer_id and (c.max_in_flight is not null or c.rate is not null)
       for share
    on conflict do nothing;
    perform from core_private.consumer_limits l where l.consumer_id = p_consumer_id for update;
    return found;
exception
    when lock_not_available or foreign_key_violation then
        return false;
end $$;
comment on function core_private.lock_limits(integer) is 'Locks the limits of a consumer until the transaction ends; false where somebody keeps the lock, or the consumer, or its last limit, is gone.';
