create or replace function core.retry_event(p_after interval = null, p_reason text = null)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_after < interval '0' or p_after > interval '30 days' then
        raise exception using errcode = 'NX006', column = 'p_after',
            message = format('p_after cannot be %s', p_after), hint = 'It lies between 0 and 30 days.';
    end if;
    raise exception using errcode = 'NX701', detail = coalesce(p_after::text, ''),
        message = coalesce(nullif(p_reason, ''), 'retry'),
        hint = 'This is for functions that handle events; see core.subscribe.';
end $$;
comment on function core.retry_event(interval, text) is 'In an SQL handler: ends it, undoes what it did and asks for the event again after p_after, if that is left out by the retry policy. It is a failed attempt; the last one makes a dead letter of the event. Raises NX701, always; NX006.';
