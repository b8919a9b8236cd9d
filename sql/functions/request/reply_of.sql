-- The row goes with the transaction that takes the reply. Who comes second waits for that one, and finds no row. At
-- the deadline the answer may be under way: then it is waited for, and counts.
create or replace function core_private.reply_of(
    p_request core.inbox, out state text, out status integer, out reply jsonb, out error text)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := core_private.now();
    v_row core.inbox;
begin
    if p_request.state <> 'answered' and p_request.expires_at > v_now then
        state := p_request.state;
        return;
    end if;
    delete from core.inbox i where i.inbox_id = p_request.inbox_id returning * into v_row;
    if not found then
        perform core_private.fail_unknown_request(p_request.inbox_id);
    elsif v_row.state = 'answered' then
        state := 'answered'; status := v_row.status; reply := v_row.reply; error := v_row.error;
    else
        state := 'expired'; status := 504;
        error := format('no reply from %s within %s seconds', v_row.target,
            round(extract(epoch from v_row.expires_at - v_row.requested_at)::numeric, 3));
    end if;
end $$;
comment on function core_private.reply_of(core.inbox) is 'What core.take_reply returns. Raises NX113.';
