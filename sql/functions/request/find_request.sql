-- The id is a secret of whoever asked: to the rest, that is to roles without a duty in the namespace, it is not there.
create or replace function core_private.find_request(p_inbox_id uuid, p_duty text)
returns core.inbox
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_row core.inbox;
begin
    select * into v_row from core.inbox i where i.inbox_id = p_inbox_id;
    if not found or core_private.is_hidden(v_row.namespace) then
        return null;
    end if;
    perform core_private.require_duty(v_row.namespace, p_duty, 'p_inbox_id');
    return v_row;
end $$;
comment on function core_private.find_request(uuid, text) is 'The row of a request; NULL if there is none for the caller. Raises NX401, NX402.';
