create or replace function core_private.lock_lane_messages(p_relation text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_try integer := (select p.tries + 1 from core_private.lane_partitions p where p.relation = p_relation);
begin
    if v_try % 64 = 0 or (v_try & (v_try - 1)) = 0 then
        lock table core_private.lane_messages in access exclusive mode;
    else
        lock table core_private.lane_messages in access exclusive mode nowait;
    end if;
end $$;
comment on function core_private.lock_lane_messages(text) is 'Locks the messages of all lanes, to drop this partition: at some tries it waits for as long as lock_timeout says. Raises 55P03.';
