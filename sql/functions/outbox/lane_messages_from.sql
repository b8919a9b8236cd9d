-- Where somebody always enqueues, partitions are emptied and stay, and each is a step of every look at messages. Ids
-- for which there was no partition may be anywhere.
create or replace function core_private.lane_messages_from()
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_from bigint := (select max(p.upper) from core_private.lane_partitions p where p.emptied_at is not null);
begin
    if v_from is null then
        return 0;
    elsif exists (select from core_private.lane_messages_default) then
        return 0;
    end if;
    return coalesce(
        (select max(p.upper)
           from core_private.lane_partitions p
          where p.emptied_at is not null
            and p.upper < (select min(q.upper) from core_private.lane_partitions q where q.emptied_at is null)),
        0);
end $$;
comment on function core_private.lane_messages_from() is 'An id below which there are no messages of lanes: all partitions before it have been emptied.';
