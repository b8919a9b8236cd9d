-- A handler in SQL is that of core.subscribe: only who is in the role of the function's owner may, since it runs with
-- the owner's rights.
create or replace function core.create_handler(
    p_namespace text, p_key text, p_options jsonb = '{}', out created boolean, out secret text)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now      timestamptz := core_private.now();
    v_kind     text;
    v_function oid;
    v_owner    oid;
    v_settings jsonb := '{}';
    v_url      text;
    v_secret   text;
    v_there    core.handlers;
begin
    perform core_private.require_consuming(p_namespace);
    perform core_private.refuse_borrowed_session();
    v_kind := core_private.check_handler_key(p_key);
    case v_kind
    when 'sql' then
        perform core_private.check_option_keys(p_options, '{function,timeout}');
        v_function := core_private.function_named(p_options -> 'function');
        v_owner := core_private.check_sql_handler(p_namespace, v_function, 'function');
        if p_options ? 'timeout' then
            v_settings := jsonb_build_object('timeout', core_private.parse_interval(
                p_options -> 'timeout', 'timeout', '10 milliseconds', '12 hours')::text);
        end if;
    when 'webhook' then
        perform core_private.require_duty(p_namespace, 'operate');
        perform core_private.check_webhook_options(
            p_options, '{url,source,timeout,concurrency,insecure,secret}');
        v_url := p_options ->> 'url';
        perform core_private.check_webhook_url(v_url, coalesce((p_options ->> 'insecure')::boolean, false), 'url');
        v_settings := p_options - '{url,secret}'::text[];
        v_secret := core_private.webhook_secret(p_options);
    when 'go', 'workflow' then
        perform core_private.check_option_keys(p_options, '{}');
    end case;
    insert into core.handlers (
        namespace, key, kind, function, owner, url, settings, registered_by, created_by, created_at)
    values (
        p_namespace, p_key, v_kind, case when v_kind = 'sql' then v_function::regprocedure::text end, v_owner::regrole,
        v_url, v_settings, (select r.oid::regrole from pg_roles r where r.rolname = core_private.caller()),
        core_private.principal(), v_now)
    on conflict do nothing;
    created := found;
    if created then
        if v_kind = 'webhook' then
            insert into core_private.webhook_secrets (namespace, key, secret, created_at)
            values (p_namespace, p_key, v_secret, v_now);
            secret := v_secret;
        elsif v_kind = 'sql' then
            perform core_private.warn_of_public(v_function);
        end if;
        perform core_private.audit('create_handler', p_namespace, p_key, null,
            jsonb_build_object('options', p_options - 'secret'));
        return;
    end if;
    select * into v_there from core.handlers h where h.namespace = p_namespace and h.key = p_key;
    if v_kind = 'sql' and (v_there.function, v_there.owner::oid)
                          is distinct from (v_function::regprocedure::text, v_owner)
       or v_kind = 'webhook' and (v_there.url <> v_url or p_options ? 'secret' and not exists (
              select
                from core_private.webhook_secrets s
               where s.namespace = p_namespace and s.key = p_key and s.expires_at is null and s.secret = v_secret))
       or not v_there.settings @> v_settings then
        raise exception using errcode = 'NX212', column = 'p_options',
            message = format('handler %s of namespace %s exists with another function, URL, secret or setting: %s',
                quote_literal(p_key), quote_literal(p_namespace), jsonb_strip_nulls(jsonb_build_object(
                    'function', v_there.function, 'owner', v_there.owner, 'url', v_there.url)) || v_there.settings),
            hint = 'Give another key, or core.drop_handler this one first.';
    end if;
end $$;
comment on function core.create_handler(text, text, jsonb) is 'Makes a handler that deliveries of triggers and requests name by its key, if there is none: created says whether, secret is that of a webhook, this once. sql:name is a function (jsonb) of yours, as core.subscribe takes it, with the options function ("schema.name(jsonb)") and timeout (of a call by a node, 30 s); webhook:name a URL to which nodes POST as for core.create_webhook, for operators, with url, source, timeout, concurrency, insecure, secret. go:name is one that nodes have, workflow:name a workflow; they take no options, and are made when they are first named. Asked for again, what is given has to be so. Raises 42501, NX004, NX005, NX006, NX015, NX101, NX212, NX401, NX402.';
