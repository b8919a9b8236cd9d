-- What the handler said by its error, as core_node.settle takes it. The context ends where Nexus's own begins.
create or replace function core_private.handler_verdict(
    p_state text, p_message text, p_detail text, p_hint text, p_context text)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_ours    integer := strpos(p_context, 'core_private.call_handler(');
    v_context text    := p_context;
    v_after   interval;
begin
    if p_state in ('NX701', 'NX703') then
        begin
            v_after := nullif(p_detail, '')::interval;
        exception when data_exception then
            v_after := null;
        end;
        if v_after < interval '0' or v_after > interval '30 days' then
            v_after := null;
        end if;
    end if;
    if v_ours > 0 then
        -- The line before is the statement that called the handler.
        v_context := array_to_string((string_to_array(left(p_context, v_ours - 1), E'\n'))[:
            cardinality(string_to_array(left(p_context, v_ours - 1), E'\n')) - 2], E'\n');
    end if;
    return case p_state
        when 'NX702' then jsonb_build_object('action', 'reject', 'reason', p_message)
        when 'NX703' then jsonb_build_object('action', 'release', 'reason', p_message,
                                             'after', coalesce(v_after, interval '1 second'))
        else jsonb_build_object(
            'action', 'retry', 'after', v_after,
            'reason', case p_state when '57014' then 'timeout' else 'error' end,
            'error', format('%s: %s', p_state, p_message)
                || case when p_state = 'NX701' then ''
                        else coalesce(E'\nDETAIL: ' || nullif(p_detail, ''), '')
                             || coalesce(E'\nHINT: ' || nullif(p_hint, ''), '')
                             || coalesce(E'\nCONTEXT: ' || nullif(v_context, ''), '') end)
        end;
end $$;
comment on function core_private.handler_verdict(text, text, text, text, text) is 'What becomes of an event whose SQL handler raised this error: action, after, reason, error.';
