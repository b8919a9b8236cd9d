create or replace function core_private.check_event_ids(p_event_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_event_ids is null or cardinality(p_event_ids) = 0
       or exists (select from unnest(p_event_ids) u(id) where u.id is null) then
        raise exception using errcode = 'NX006', column = 'p_event_ids',
            message = 'p_event_ids names no event, or holds a NULL',
            hint = 'Give ids of core.event_log; core.find_event finds one by its uid.';
    end if;
    if cardinality(p_event_ids) > 10000 then
        raise exception using errcode = 'NX603', column = 'p_event_ids',
            message = format('there are %s events, more than 10000', cardinality(p_event_ids)),
            hint = 'Give up to 10000 at a time.';
    end if;
end $$;
comment on function core_private.check_event_ids(bigint[]) is 'Raises NX006, NX603.';
