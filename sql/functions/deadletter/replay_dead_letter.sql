create or replace function core.replay_dead_letter(
    p_dead_letter_id bigint, p_payload jsonb = null, p_claim_token uuid = null)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_row core.dead_letters := core_private.lock_dead_letter(p_dead_letter_id, p_claim_token);
    v_max integer;
    v_id  bigint;
begin
    if p_payload is not null then
        select n.max_payload_bytes into v_max from core.namespaces n where n.namespace = v_row.namespace;
        perform core_private.check_payload(p_payload, v_max);
    end if;
    select r.msg_id into v_id from core_private.replay(array[p_dead_letter_id], p_payload) r;
    if not found then
        perform core_private.fail_lost_queue(c.queue_name)
           from core.consumers c
          where c.namespace = v_row.namespace and c.name = v_row.consumer and c.kind = 'unordered'
            and to_regclass(core_private.queue_relation(c.queue_name)) is null;
        raise exception using errcode = 'NX207', column = 'p_dead_letter_id',
            message = format('dead letter %s of namespace %s cannot be replayed: %s',
                p_dead_letter_id, quote_literal(v_row.namespace),
                coalesce(core_private.why_not_replayed(
                             v_row.source_kind, v_row.namespace, v_row.consumer, array[p_dead_letter_id]),
                         'its source is gone')),
            hint = format('Emit its payload anew, or: select core.discard_dead_letter(%s, ''its consumer is gone'');',
                p_dead_letter_id);
    end if;
    perform core_private.audit('replay_dead_letter', v_row.namespace, p_dead_letter_id::text, null,
        jsonb_build_object(
            'before', jsonb_strip_nulls(jsonb_build_object('status', v_row.status, 'claimed_by', v_row.claimed_by)),
            'after', jsonb_strip_nulls(jsonb_build_object(
                'status', 'resolved', 'resolution', 'replayed', 'replay_msg_id', v_id)))
        || case when p_payload is null then '{}'
                else jsonb_build_object('payload_before', v_row.payload, 'payload_after', p_payload) end);
    return v_id;
end $$;
comment on function core.replay_dead_letter(bigint, jsonb, uuid) is 'Delivers one dead letter again, with an edited payload if one is given; returns the new message id, NULL for a scheduled event, which is due at once and fires with the next tick or timer. One that is claimed is replayed with the token of the claim. Of two at once one hears NX205. Raises NX003, NX105, NX110, NX205, NX207, NX217, NX303, NX401, NX402, NX601.';
