create or replace function core_node.note_webhook(
    p_namespace text, p_consumer text, p_error text = null, p_gone boolean = false)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now     timestamptz := core_private.now();
    v_webhook core.webhooks;
    v_state   text;
    v_reason  text;
begin
    perform core_private.require_duty(p_namespace, 'consume');
    if p_gone is null then
        raise exception using errcode = 'NX006', column = 'p_gone', message = 'p_gone is NULL',
            hint = 'Give true or false.';
    end if;
    select c.state into v_state
      from core.consumers c
     where c.namespace = p_namespace and c.name = p_consumer for no key update;
    select w.* into v_webhook
      from core.webhooks w
     where w.namespace = p_namespace and w.name = p_consumer for no key update;
    if v_webhook.consumer_id is null then
        return null;
    end if;
    if p_error is null then
        v_webhook.failing_since := null;
        v_webhook.last_delivered_at := v_now;
    else
        v_webhook.failing_since := coalesce(v_webhook.failing_since, v_now);
        v_webhook.last_failed_at := v_now;
        v_webhook.last_error := left(p_error, 1000);
        v_reason := case
            when p_gone then 'the receiver answered 410 Gone'
            when v_webhook.pause_after > interval '0' and v_now >= v_webhook.failing_since + v_webhook.pause_after
            then format('it failed for %s', v_webhook.pause_after) end;
    end if;
    if v_reason is not null and v_state = 'active' then
        update core.consumers c set state = 'paused' where c.consumer_id = v_webhook.consumer_id;
        v_webhook.paused_at := v_now;
        v_webhook.paused_reason := v_reason;
        v_state := 'paused';
        perform core_private.audit('pause_webhook', p_namespace, p_consumer, v_reason);
    end if;
    update core.webhooks w
       set failing_since = v_webhook.failing_since, last_delivered_at = v_webhook.last_delivered_at,
           last_failed_at = v_webhook.last_failed_at,
           last_error = v_webhook.last_error, paused_at = v_webhook.paused_at, paused_reason = v_webhook.paused_reason
     where w.consumer_id = v_webhook.consumer_id;
    return v_state;
end $$;
comment on function core_node.note_webhook(text, text, text, boolean) is 'For nodes: how a POST went, p_error NULL for well. One that has failed for as long as its pause_after, and one whose receiver answered that it is gone, is paused. Returns the state of its consumer, NULL if there is none. Raises NX006, NX101, NX401, NX402.';
