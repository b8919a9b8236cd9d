create or replace function core_private.require_own_handler(p_consumer_id integer, p_function text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform core_private.refuse_borrowed_session();
    perform core_private.require_read_committed(p_function);
    if core_private.sql_owner(p_consumer_id, session_user::regrole) is distinct from session_user::regrole then
        raise exception using errcode = 'NX401', column = 'p_consumer_id',
            message = format('consumer %s has no SQL handler of %I', p_consumer_id, session_user),
            hint = 'core.sql_handlers and core.handlers have the owners.';
    end if;
    perform core_private.require_duty(
        (select c.namespace from core.consumers c where c.consumer_id = p_consumer_id), 'consume', 'p_consumer_id');
end $$;
comment on function core_private.require_own_handler(integer, text) is 'Raises 42501, 55000, NX101, NX401 or NX402 unless the session user owns SQL handlers of the consumer and may consume its events.';
