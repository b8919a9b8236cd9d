create or replace function core.reject_event(p_reason text = null)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX702',
        message = coalesce(nullif(p_reason, ''), 'rejected'),
        hint = 'This is for functions that handle events; see core.subscribe.';
end $$;
comment on function core.reject_event(text) is 'In an SQL handler: ends it, undoes what it did and makes a dead letter of the event at once, with that reason. Raises NX702, always.';
