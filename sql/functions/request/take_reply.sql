create or replace function core.take_reply(
    p_inbox_id uuid, out state text, out status integer, out reply jsonb, out error text)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_row core.inbox := core_private.find_request(p_inbox_id, 'produce');
begin
    if v_row.inbox_id is null then
        perform core_private.fail_unknown_request(p_inbox_id);
    elsif v_row.xact_id = pg_current_xact_id_if_assigned() then
        perform core_private.fail_uncommitted_request();
    end if;
    select r.state, r.status, r.reply, r.error into state, status, reply, error from core_private.reply_of(v_row) r;
end $$;
comment on function core.take_reply(uuid) is 'The reply to a request, once: the row goes with the caller''s transaction. Does not wait: state is waiting or running, and status NULL, as long as there is none. answered: status is 200 with a reply; 422 rejected, or a payload that the handler does not take; 500 the handler failed; 502 its process was lost; 503 no node has it, or the node drained; 507 the reply is too large; error says more. expired: 504. Raises NX113, NX219, NX401, NX402.';
