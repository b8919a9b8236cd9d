-- What runs goes on: its result finds no row, and is an abandoned execution.
create or replace function core.cancel_request(p_inbox_id uuid)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_row core.inbox := core_private.find_request(p_inbox_id, 'produce');
begin
    delete from core.inbox i
     where i.inbox_id = v_row.inbox_id and i.state in ('waiting', 'running');
    return found;
end $$;
comment on function core.cancel_request(uuid) is 'Waits no more for the reply: what no node has begun does not run, and what runs becomes an abandoned execution. False if there was nothing to cancel: it is answered, or there is no such request. Raises NX401, NX402.';
