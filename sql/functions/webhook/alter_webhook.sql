create or replace function core.alter_webhook(
    p_namespace text, p_consumer text, p_url text = null, p_options jsonb = '{}')
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_id  integer;
    v_old core.webhooks;
begin
    perform core_private.require_duty(p_namespace, 'operate');
    perform core_private.check_webhook_options(
        p_options, array['source', 'timeout', 'concurrency', 'pause_after', 'insecure']);
    v_id := core_private.require_webhook(p_namespace, p_consumer);
    select w.* into v_old from core.webhooks w where w.consumer_id = v_id;
    perform core_private.check_webhook_url(
        coalesce(p_url, v_old.url), coalesce((p_options ->> 'insecure')::boolean, v_old.insecure));
    update core.webhooks w
       set url = coalesce(p_url, w.url),
           source = coalesce(p_options ->> 'source', w.source),
           timeout = coalesce((p_options ->> 'timeout')::interval, w.timeout),
           concurrency = coalesce((p_options ->> 'concurrency')::integer, w.concurrency),
           pause_after = coalesce((p_options ->> 'pause_after')::interval, w.pause_after),
           insecure = coalesce((p_options ->> 'insecure')::boolean, w.insecure)
     where w.consumer_id = v_id;
    perform core_private.audit('alter_webhook', p_namespace, p_consumer, null,
        jsonb_build_object('before', v_old.url, 'url', coalesce(p_url, v_old.url), 'options', p_options));
end $$;
comment on function core.alter_webhook(text, text, text, jsonb) is 'Replaces the URL of a webhook, if one is given, and the options that are given: source, timeout, concurrency, pause_after, insecure. Nodes know within seconds; a POST under way ends as it began. Patterns and the options of its consumer are changed by core.alter_consumer. Raises NX004, NX005, NX006, NX101, NX102, NX401, NX402.';
