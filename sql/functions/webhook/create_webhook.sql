-- What is left out of the retry policy fits a receiver that is away for a day rather than for minutes.
create or replace function core.create_webhook(
    p_namespace text, p_consumer text, p_url text, p_patterns text[], p_options jsonb = '{}')
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_own     constant text[] := array['source', 'timeout', 'concurrency', 'pause_after', 'insecure', 'secret'];
    v_known   constant text[] := v_own || array[
        'from', 'retry', 'unhandled_after', 'max_in_flight', 'rate', 'levels', 'kind', 'lanes', 'exhausted'];
    v_now     timestamptz := core_private.now();
    v_there   core.webhooks;
    v_id      integer;
    v_secret  text;
    v_created boolean;
begin
    perform core_private.require_duty(p_namespace, 'operate');
    perform core_private.check_webhook_options(p_options, v_known);
    perform core_private.check_webhook_url(p_url, coalesce((p_options ->> 'insecure')::boolean, false));
    v_secret := core_private.webhook_secret(p_options);
    v_created := core.create_consumer(p_namespace, p_consumer, p_patterns, case when exists (
            select from core.consumers c where c.namespace = p_namespace and c.name = p_consumer) then p_options - v_own
        else jsonb_set(p_options - v_own, '{retry}',
            '{"max_attempts": 15, "shape": "exponential", "base": "30s", "max": "8h", "jitter": 0.2}'::jsonb
            || coalesce(p_options -> 'retry', '{}')) end);
    if not v_created then
        select w.* into v_there from core.webhooks w where w.namespace = p_namespace and w.name = p_consumer;
        if not found or (v_there.url, true) is distinct from (p_url, (
            v_there.source is not distinct from coalesce(p_options ->> 'source', v_there.source)
            and v_there.timeout = coalesce((p_options ->> 'timeout')::interval, v_there.timeout)
            and v_there.pause_after = coalesce((p_options ->> 'pause_after')::interval, v_there.pause_after)
            and v_there.concurrency = coalesce((p_options ->> 'concurrency')::integer, v_there.concurrency)
            and (not p_options ? 'secret' or exists (
                select from core_private.webhook_secrets s
                 where s.consumer_id = v_there.consumer_id and s.expires_at is null and s.secret = v_secret)))) then
            raise exception using errcode = 'NX212', column = 'p_consumer',
                message = format(case when v_there.consumer_id is null
                                      then 'consumer %s of namespace %s exists, and is no webhook'
                                      else 'webhook %s of namespace %s exists with another URL, secret or options' end,
                                 quote_literal(p_consumer), quote_literal(p_namespace)),
                hint = case when v_there.consumer_id is null then 'Choose another name.'
                            else 'Change it with core.alter_webhook or core.rotate_webhook_secret.' end;
        end if;
        return null;
    end if;
    select c.consumer_id into v_id from core.consumers c where c.namespace = p_namespace and c.name = p_consumer;
    insert into core.webhooks (
        consumer_id, namespace, name, url, source, timeout, concurrency, pause_after, insecure, created_at)
    values (
        v_id, p_namespace, p_consumer, p_url, p_options ->> 'source',
        coalesce((p_options ->> 'timeout')::interval, interval '15 seconds'),
        coalesce((p_options ->> 'concurrency')::integer, 5),
        coalesce((p_options ->> 'pause_after')::interval, interval '5 days'),
        coalesce((p_options ->> 'insecure')::boolean, false), v_now);
    insert into core_private.webhook_secrets (consumer_id, secret, created_at) values (v_id, v_secret, v_now);
    perform core_private.audit('create_webhook', p_namespace, p_consumer, null,
        jsonb_build_object('url', p_url, 'options', p_options - 'secret'));
    return v_secret;
end $$;
comment on function core.create_webhook(text, text, text, text[], jsonb) is 'Creates a consumer whose events nodes POST to a URL as CloudEvents, signed as Standard Webhooks says. Returns the secret, this once; NULL if it was there as asked. Options: source, timeout (15 s), concurrency (5, of each node), pause_after (5 days of failures; 0: never), insecure (false; true: http), secret (one is made), and those of a consumer: from, retry (15 attempts, 30 s to 8 h apart), unhandled_after, max_in_flight, rate, levels, kind, lanes, exhausted: with the kind ordered the events of one ordering key are POSTed one after the other. Raises NX004, NX005, NX006, NX007, NX008, NX101, NX202, NX212, NX225, NX401, NX402.';
