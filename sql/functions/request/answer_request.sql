-- Answer and ack commit together. Which request it is stands in the message, so that nobody answers another one's.
create or replace function core_node.answer_request(
    p_queue text, p_msg_id bigint, p_read_ct integer, p_last_read_at timestamptz,
    p_status integer, p_reply jsonb = null, p_error text = null,
    out state text, out status integer, out took interval)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now     timestamptz := core_private.now();
    v_owner   record;
    v_message jsonb;
    v_inbox   uuid;
    v_max     integer;
    v_asked   timestamptz;
begin
    select * into v_owner from core_private.queue_owner(p_queue, 'consume');
    if p_status is null or p_status not in (200, 422, 500, 502, 503, 504, 507) then
        raise exception using errcode = 'NX006', column = 'p_status',
            message = format('p_status cannot be %s', coalesce(p_status::text, 'NULL')),
            hint = 'Give 200, 422, 500, 502, 503, 504 or 507.';
    elsif (p_status = 200) <> (p_reply is not null) then
        raise exception using errcode = 'NX006', column = 'p_reply',
            message = format('p_reply %s with the status %s',
                case when p_reply is null then 'is missing' else 'cannot be given' end, p_status),
            hint = 'There is a reply with 200, and with nothing else; it may be ''null''::jsonb.';
    end if;
    perform core_private.check_payload(coalesce(p_reply, 'null'), null, 'p_reply');
    execute format($q$
        delete from %s q
         where q.msg_id = $1 and q.read_ct = $2 and q.last_read_at = $3
        returning q.message
        $q$, core_private.queue_relation(p_queue))
       into v_message
      using p_msg_id, p_read_ct, p_last_read_at;
    v_inbox := core_private.uuid_if_valid(v_message ->> 'replyTo');
    if v_message is null then
        raise exception using errcode = 'NX301', column = 'p_read_ct',
            message = format('the lease of message %s of %s is lost', p_msg_id, p_queue),
            detail = 'Another node took the message after the lease had ended, or it is already settled.',
            hint = 'Nothing is left to do: whoever has it answers.';
    elsif v_inbox is null then
        raise exception using errcode = 'NX006', column = 'p_msg_id',
            message = format('message %s of %s is no request', p_msg_id, p_queue),
            hint = 'Settle it as any other.';
    end if;

    status := p_status;
    if p_status = 200 then
        select n.max_payload_bytes into v_max from core.namespaces n where n.namespace = v_owner.namespace;
        if octet_length(p_reply::text) > v_max then
            status := 507;
            p_error := format('the reply has %s bytes, at most %s are allowed', octet_length(p_reply::text), v_max);
            p_reply := null;
        end if;
    end if;
    p_error := core_private.clean_text(p_error);
    update core.inbox i
       set state = 'answered', status = answer_request.status, reply = p_reply, error = p_error, answered_at = v_now
     where i.inbox_id = v_inbox and i.namespace = v_owner.namespace and i.state = 'running' and i.expires_at > v_now
    returning i.requested_at into v_asked;
    if found then
        state := 'answered';
        took := v_now - v_asked;
        return;
    end if;
    state := 'abandoned';
    perform core_private.abandon_request(
        v_inbox, v_owner.namespace, coalesce(core_private.event_type_of(v_message), ''),
        core_private.uuid_if_valid(v_message ->> 'eventUid'), status, 'nobody waits', p_reply, p_error, v_now);
end $$;
comment on function core_node.answer_request(text, bigint, integer, timestamptz, integer, jsonb, text) is 'For nodes: answers the request whose message they hold, and acks that, in one transaction. p_status is 200 with p_reply, or 422, 500, 502, 503, 504, 507 with p_error; a reply larger than a payload of the namespace may be makes it 507. state is answered, with the time since the request, or abandoned: nobody waits, and what was done is in core.abandoned_executions. Raises NX003, NX006, NX103, NX110, NX301, NX401, NX402.';
