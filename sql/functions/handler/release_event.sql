create or replace function core.release_event(p_after interval = '1 second', p_reason text = null)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_after is null or p_after < interval '0' or p_after > interval '30 days' then
        raise exception using errcode = 'NX006', column = 'p_after',
            message = format('p_after cannot be %s', coalesce(p_after::text, 'NULL')),
            hint = 'It lies between 0 and 30 days.';
    end if;
    raise exception using errcode = 'NX703', detail = p_after::text,
        message = coalesce(nullif(p_reason, ''), 'released'),
        hint = 'This is for functions that handle events; see core.subscribe.';
end $$;
comment on function core.release_event(interval, text) is 'In an SQL handler: ends it, undoes what it did and gives the event back for p_after, without using an attempt. Raises NX703, always; NX006.';
