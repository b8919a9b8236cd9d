-- What was committed while a lock was waited for is not seen at a higher level, and what is not seen would be lost with
-- the table.
create or replace function core_private.require_read_committed(p_function text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
        raise exception using errcode = 'object_not_in_prerequisite_state', column = 'transaction_isolation',
            message = format('%s needs a transaction that is read committed, and this one is %s',
                p_function, current_setting('transaction_isolation')),
            hint = 'begin isolation level read committed; and then again.';
    end if;
end $$;
comment on function core_private.require_read_committed(text) is 'Raises 55000 in a transaction that does not see what was committed since it began.';
