create or replace function core.create_trigger(
    p_namespace text, p_name text, p_source jsonb, p_target text, p_options jsonb = '{}')
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now      timestamptz := core_private.now();
    v_kind     text := core_private.kind_of_source(p_source);
    v_source   jsonb;
    v_given    jsonb := case v_kind when 'dead_letter' then '{"max_attempts": 1}'
                                   else coalesce(p_options -> 'retry', '{}') end;
    v_retry    record;
    v_mode     text;
    v_shown    jsonb := case v_kind when 'http' then p_source #- '{http,token_hash}' else p_source end;
    v_consumer text := 'triggers';
    v_enabled  boolean := true;
    v_there    core.triggers;
    v_back     record;
    v_id       uuid := gen_random_uuid();
begin
    perform core_private.require_trigger_duty(p_namespace, v_kind);
    perform core_private.refuse_borrowed_session();
    if (p_name ~ '^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$') is not true then
        perform core_private.fail_trigger('p_name',
            format('trigger %s cannot be', coalesce(quote_literal(left(p_name, 150)), 'NULL')),
            'A name is 1 to 100 of A-Z, a-z, 0-9 and ". _ / -", a letter or digit first.');
    end if;
    v_source := core_private.check_trigger_source(p_namespace, p_source);
    perform core_private.check_option_keys(p_options, '{retry,consumer,enabled,replace,match_back,resolve,mode}');
    perform core_private.check_kind_options(v_kind, p_options);
    v_mode := coalesce(p_options ->> 'mode', 'async');
    if v_kind = 'http' and v_mode = 'sync' then
        v_consumer := 'requests';
    end if;
    if p_options ? 'consumer' then
        if jsonb_typeof(p_options -> 'consumer') <> 'string' then
            perform core_private.fail_option('consumer', p_options -> 'consumer',
                'Give the name of a routed consumer.');
        end if;
        v_consumer := p_options ->> 'consumer';
        if v_consumer = 'requests' then
            perform core_private.fail_option('consumer', p_options -> 'consumer',
                'That one is for requests alone. Give the name of a routed consumer.');
        end if;
    end if;
    if jsonb_typeof(p_options -> 'enabled') <> 'boolean' then
        perform core_private.fail_option('enabled', p_options -> 'enabled', 'Give true or false.');
    elsif jsonb_typeof(p_options -> 'replace') <> 'boolean' then
        perform core_private.fail_option('replace', p_options -> 'replace', 'Give true or false.');
    end if;
    v_enabled := coalesce((p_options ->> 'enabled')::boolean, true);
    select * into v_back from core_private.parse_match_back(p_options -> 'match_back');
    if v_back.from_time is not null and v_kind <> 'event' then
        perform core_private.fail_trigger('match_back', format('a trigger of kind %s cannot look back', v_kind),
            'Only events are in the log.');
    end if;
    select *
      into v_retry
      from core_private.trigger_retry(v_given, core_private.trigger_defaults(p_namespace));
    perform core_private.lock_namespace(p_namespace, false);
    perform from core.namespaces n where n.namespace = p_namespace for no key update;
    perform core_private.name_handler(p_namespace, p_target, 'p_target');
    if v_mode = 'sync' and v_kind <> 'http' then
        if p_target not like 'sql:%' then
            perform core_private.fail_trigger('p_target',
                format('a trigger of kind %s that is sync cannot have the target %s', v_kind,
                       quote_literal(p_target)),
                'What runs in the transaction that emits is a function: sql:name.');
        end if;
        perform core_private.require_sync_rights(
            p_namespace, p_name, (select r.oid from pg_roles r where r.rolname = core_private.caller()),
            (select h.owner from core.handlers h where h.namespace = p_namespace and h.key = p_target));
    end if;
    perform core_private.open_routed(p_namespace, v_consumer);
    select * into v_there from core.triggers t where t.namespace = p_namespace and t.name = p_name for update;
    if found then
        if v_there.kind = v_kind and core_private.trigger_source(v_there.trigger_id, v_kind) = v_source
           and v_there.target = p_target and v_there.consumer = v_consumer and v_there.mode = v_mode
           and (not p_options ? 'enabled' or v_there.enabled = v_enabled)
           and v_there.resolve = coalesce((p_options ->> 'resolve')::boolean, false)
           and (v_there.retry_max_attempts, v_there.retry_backoff, v_there.retry_base_ms, v_there.retry_max_ms,
                v_there.retry_jitter)
               = (select r.max_attempts, r.backoff, r.base_ms, r.max_ms, r.jitter
                    from core_private.trigger_retry(
                             v_given,
                             case when (p_options ->> 'replace')::boolean
                                  then core_private.trigger_defaults(p_namespace)
                                  else core_private.trigger_policy(v_there.trigger_id) end) r) then
            return v_there.trigger_id;
        elsif v_there.kind <> v_kind then
            raise exception using errcode = 'NX212', column = 'p_name',
                message = format('trigger %s of namespace %s is one of kind %s',
                                 quote_literal(p_name), quote_literal(p_namespace), v_there.kind),
                hint = 'Delete it first, or give another name.';
        elsif (p_options ->> 'replace')::boolean is not true then
            raise exception using errcode = 'NX212', column = 'p_name',
                message = format('trigger %s of namespace %s exists with another source, target, mode or policy',
                                 quote_literal(p_name), quote_literal(p_namespace)),
                hint = 'core.trigger_status shows it; with the option replace it gets these.';
        end if;
        if v_back.from_time is not null then
            perform core_private.fail_trigger('match_back',
                'a trigger that is replaced cannot look back',
                'It may have delivered by its rule of before. Create one of another name: it gets all that matches.');
        end if;
        update core.triggers t
           set target = p_target, consumer = v_consumer, mode = v_mode,
               enabled = case when p_options ? 'enabled' then v_enabled else t.enabled end,
               retry_max_attempts = v_retry.max_attempts, retry_backoff = v_retry.backoff,
               resolve = coalesce((p_options ->> 'resolve')::boolean, false),
               retry_base_ms = v_retry.base_ms, retry_max_ms = v_retry.max_ms, retry_jitter = v_retry.jitter,
               registered_by_principal = (
                   select r.oid::regrole from pg_roles r where r.rolname = core_private.caller()),
               registered_by = core_private.principal(), updated_at = v_now,
               replaced_generation = core_private.begin_period(
                   t.trigger_id, p_namespace,
                   case when p_options ? 'enabled' then v_enabled else t.enabled end)
         where t.trigger_id = v_there.trigger_id;
        perform core_private.put_trigger_source(v_there.trigger_id, p_namespace, v_kind, v_source);
        perform core_private.audit('replace_trigger', p_namespace, p_name, null, jsonb_build_object(
            'source', v_shown, 'target', p_target, 'options', p_options, 'before', v_there.target));
        return v_there.trigger_id;
    end if;
    if (select count(*) from core.triggers t where t.namespace = p_namespace) >= 10000 then
        raise exception using errcode = 'NX605', column = 'p_name',
            message = format('namespace %s has 10000 triggers', quote_literal(p_namespace)),
            hint = 'Delete some, or have one handler tell cases apart.';
    end if;
    insert into core.triggers (
        trigger_id, namespace, name, kind, mode, target, consumer, enabled, resolve, retry_max_attempts, retry_backoff,
        retry_base_ms, retry_max_ms, retry_jitter, registered_by_principal, registered_by, created_at, updated_at)
    values (
        v_id, p_namespace, p_name, v_kind, v_mode, p_target, v_consumer, v_enabled,
        coalesce((p_options ->> 'resolve')::boolean, false), v_retry.max_attempts, v_retry.backoff,
        v_retry.base_ms, v_retry.max_ms, v_retry.jitter,
        (select r.oid::regrole from pg_roles r where r.rolname = core_private.caller()), core_private.principal(),
        v_now, v_now);
    perform core_private.put_trigger_source(v_id, p_namespace, v_kind, v_source);
    perform core_private.begin_period(v_id, p_namespace, v_enabled);
    if v_back.from_time is not null then
        select * into v_there from core.triggers t where t.trigger_id = v_id;
        perform core_private.refuse_match_back(v_there);
        perform core_private.begin_match_back(v_id, 0, v_back.from_time, v_back.rate);
    end if;
    perform core_private.audit('create_trigger', p_namespace, p_name, null,
        jsonb_build_object('source', v_shown, 'target', p_target, 'options', p_options));
    return v_id;
end $$;
comment on function core.create_trigger(text, text, jsonb, text, jsonb) is 'Has each event that matches delivered to a handler, in the transaction that emits it: p_source is {"event": {"pattern": …, "contains": …}}, where contains is an object that the payload has to contain, or {"dead_letter": {"source": …, "trigger": …, "target": …}}, each of which may be left out: what is given up, or {"http": {"method": …, "path": "/orders/{id}", "token_hash": …}} with the SHA-256 of a bearer token in hex, or "public": true in its place: what programs that serve HTTP are asked (ingress.Triggers, nexus-node run with NEXUS_TRIGGER_ADDRESS), or {"cron": {"task": …}} or {"cron": {"cron_expression": …, "timezone": …, "payload": …}} with the options of core.schedule_task: a task, or one that is made and whose events go to the trigger alone; p_target the key of a handler (go:name, sql:name, webhook:name, workflow:name). Returns its id, also of one that is there alike. Options: retry (three attempts, exponential, 1 s to 5 min, 20 %; kept with the trigger), consumer (a routed one of its own; triggers), enabled (true), replace (false: a trigger of that name with other settings is a conflict; true: it gets these, for what is emitted from then on), match_back ("beginning", or a time: what is in the log since then and matches is delivered, too, by ticks; or an object with from and rate, such as "100/min"), resolve (of dead letters: success of the handler resolves them), mode (of http: async, which is answered by 202 and delivered, or sync: a request whose reply is the answer, waited for as long as timeout of the source says, 30 s; of event and kv sync: a function, sql:name, runs in the transaction that emits, after the log row, and its error is that of the emit; by administrators, with functions of administrators). A handler of dead letters has one attempt, and its failure is noted with them. Its deliveries are judged by the duties of who creates it. Who may consume or operate, of dead letters and HTTP who may operate, by schedules who may also produce, or operate. Raises 42501, NX002, NX003, NX004, NX005, NX006, NX007, NX008, NX011, NX012, NX014, NX101, NX108, NX111, NX202, NX208, NX212, NX401, NX402, NX601, NX605.';
