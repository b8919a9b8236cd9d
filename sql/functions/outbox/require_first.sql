create or replace function core_private.require_first(p_function text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if pg_current_xact_id_if_assigned() is not null then
        raise exception using errcode = 'NX224', column = 'transaction',
            message = format('%s must be the first to write in its transaction', p_function),
            hint = 'Call it in a transaction of its own.';
    end if;
end $$;
comment on function core_private.require_first(text) is 'Raises NX224 in a transaction that has written something.';
