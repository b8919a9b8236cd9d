create or replace function core.rotate_webhook_secret(p_namespace text, p_consumer text, p_options jsonb = '{}')
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now     timestamptz := core_private.now();
    v_overlap interval := interval '24 hours';
    v_id      integer;
    v_key     text;
    v_secret  text;
begin
    perform core_private.require_duty(p_namespace, 'operate');
    perform core_private.check_option_keys(p_options, array['secret', 'overlap']);
    if p_options ? 'overlap' then
        v_overlap := core_private.parse_interval(p_options -> 'overlap', 'overlap', '0', '30 days');
    end if;
    v_secret := core_private.webhook_secret(p_options);
    if p_consumer like '%:%' then
        perform core_private.check_handler_key(p_consumer, 'p_consumer');
        select h.key
          into v_key
          from core.handlers h
         where h.namespace = p_namespace and h.key = p_consumer and h.kind = 'webhook' for no key update;
        if not found then
            raise exception using errcode = 'NX111', column = 'p_consumer',
                message = format('namespace %s has no webhook handler %s',
                                 quote_literal(p_namespace), quote_literal(p_consumer)),
                hint = 'core.handlers has them.';
        end if;
    else
        v_id := core_private.require_webhook(p_namespace, p_consumer);
    end if;
    -- Two are valid at most.
    delete from core_private.webhook_secrets s
     where (s.consumer_id = v_id or s.namespace = p_namespace and s.key = v_key)
       and (s.expires_at is not null or v_overlap = interval '0');
    update core_private.webhook_secrets s
       set expires_at = v_now + v_overlap
     where s.consumer_id = v_id or s.namespace = p_namespace and s.key = v_key;
    insert into core_private.webhook_secrets (consumer_id, namespace, key, secret, created_at)
    values (v_id, case when v_key is not null then p_namespace end, v_key, v_secret, v_now);
    perform core_private.audit(
        'rotate_webhook_secret', p_namespace, p_consumer, null, jsonb_build_object('overlap', v_overlap));
    return v_secret;
end $$;
comment on function core.rotate_webhook_secret(text, text, jsonb) is 'Gives a webhook, or a handler webhook:name, another secret and returns it, this once. Until overlap (24 hours) is over the one before signs too, so that receivers accept both; one that was before that ends at once. Options: secret (one is made), overlap. Raises NX004, NX005, NX006, NX101, NX102, NX111, NX401, NX402.';
