create or replace function core_private.fail_delayed(p_consumer text)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX225', column = 'deliver_at',
        message = format('consumer %s is ordered, and an event that comes later has no place in its order',
                         quote_literal(p_consumer)),
        hint = 'Emit it without a delay; core.schedule_event emits it when it is time.';
end $$;
comment on function core_private.fail_delayed(text) is 'Raises NX225.';
