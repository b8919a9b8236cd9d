create or replace function core.replay_dead_letter(p_dead_letter_id bigint, p_payload jsonb = null)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_row core.dead_letters := core_private.lock_dead_letter(p_dead_letter_id);
    v_max integer;
    v_id  bigint;
begin
    if p_payload is not null then
        select n.max_payload_bytes into v_max from core.namespaces n where n.namespace = v_row.namespace;
        perform core_private.check_payload(p_payload, v_max);
    end if;
    select r.msg_id into v_id from core_private.replay(array[p_dead_letter_id], p_payload) r;
    if not found then
        raise exception using errcode = 'NX207', column = 'p_dead_letter_id',
            message = format('dead letter %s cannot be replayed: %s of namespace %s is gone', p_dead_letter_id,
                case when v_row.consumer is null then 'its source' else 'consumer ' || quote_literal(v_row.consumer) end, quote_literal(v_row.namespace)),
            hint = format('Emit its payload anew, or: select core.discard_dead_letter(%s, ''no consumer left'');', p_dead_letter_id);
    end if;
    return v_id;
end $$;
comment on function core.replay_dead_letter(bigint, jsonb) is 'Delivers one dead letter again, with an edited payload if one is given; returns the new message id, NULL for a scheduled event, which is due at once and fires with the next tick or timer. Of two at once one hears NX205. Raises NX003, NX105, NX205, NX207, NX401, NX402, NX601.';
