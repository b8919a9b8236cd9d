create or replace function core.rotate_webhook_secret(p_namespace text, p_consumer text, p_options jsonb = '{}')
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now     timestamptz := core_private.now();
    v_overlap interval := interval '24 hours';
    v_id      integer;
    v_secret  text;
begin
    perform core_private.require_duty(p_namespace, 'operate');
    perform core_private.check_option_keys(p_options, array['secret', 'overlap']);
    if p_options ? 'overlap' then
        v_overlap := core_private.parse_interval(p_options -> 'overlap', 'overlap', '0', '30 days');
    end if;
    v_secret := core_private.webhook_secret(p_options);
    v_id := core_private.require_webhook(p_namespace, p_consumer);
    -- Two are valid at most.
    delete from core_private.webhook_secrets s
     where s.consumer_id = v_id and (s.expires_at is not null or v_overlap = interval '0');
    update core_private.webhook_secrets s set expires_at = v_now + v_overlap where s.consumer_id = v_id;
    insert into core_private.webhook_secrets (consumer_id, secret, created_at) values (v_id, v_secret, v_now);
    perform core_private.audit(
        'rotate_webhook_secret', p_namespace, p_consumer, null, jsonb_build_object('overlap', v_overlap));
    return v_secret;
end $$;
comment on function core.rotate_webhook_secret(text, text, jsonb) is 'Gives a webhook another secret and returns it, this once. Until overlap (24 hours) is over the one before signs too, so that receivers accept both; one that was before that ends at once. Options: secret (one is made), overlap. Raises NX004, NX005, NX101, NX102, NX401, NX402.';
