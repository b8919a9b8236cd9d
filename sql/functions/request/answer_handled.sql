-- What an SQL handler said of a request by its error, or returned. What no Go program could read is no reply.
create or replace function core_private.answer_handled(
    p_queue text, p_msg_id bigint, p_read_ct integer, p_last_read_at timestamptz, p_verdict jsonb, p_reply jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_status integer := case when p_verdict is null then 200
                             when p_verdict ->> 'action' = 'reject' then 422
                             when p_verdict ->> 'action' = 'release' or p_verdict ->> 'after' is not null then 503
                             when p_verdict ->> 'reason' = 'timeout' then 504
                             else 500 end;
    v_error  text := coalesce(p_verdict ->> 'error', p_verdict ->> 'reason');
begin
    begin
        perform core_private.check_payload(coalesce(p_reply, 'null'), null, 'p_reply');
    exception when sqlstate 'NX003' then
        v_status := 500;
        v_error := sqlerrm;
    end;
    perform core_node.answer_request(
        p_queue, p_msg_id, p_read_ct, p_last_read_at, v_status,
        case when v_status = 200 then coalesce(p_reply, 'null') end, v_error);
end $$;
comment on function core_private.answer_handled(text, bigint, integer, timestamptz, jsonb, jsonb) is 'Answers a request whose handler is in SQL: p_verdict is core_private.handler_verdict, NULL after a return. Raises as core_node.answer_request.';
