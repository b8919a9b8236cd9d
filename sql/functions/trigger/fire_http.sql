-- What is asked by routes of before is not answered: there may be a closer one by now, or another token.
create or replace function core_node.fire_http(
    p_trigger_id uuid, p_generation bigint, p_payload jsonb, p_options jsonb = '{}',
    out state text, out event_uid uuid, out accepted_at timestamptz, out inbox_id uuid)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now     timestamptz := core_private.now();
    v_trigger core.triggers;
    v_max     integer;
    v_for     interval;
    v_met     bigint;
    v_queue   text;
    v_o       record;
    v_id      bigint;
begin
    state := 'stale';
    select t.* into v_trigger from core.triggers t where t.trigger_id = p_trigger_id and t.kind = 'http';
    if not found or core_private.is_hidden(v_trigger.namespace) then
        return;
    end if;
    perform core_private.require_duty(v_trigger.namespace, 'produce', 'p_trigger_id');
    perform core_private.check_option_keys(p_options, '{headers,correlation_id}');
    -- A deletion leaves the generation as it is, and is seen by the trigger that is gone.
    select n.max_payload_bytes, n.trigger_generation, c.queue_name, coalesce(d.timeout, interval '30 s')
      into v_max, v_met, v_queue, v_for
      from core.namespaces n
      join core.consumers c on c.namespace = n.namespace and c.name = v_trigger.consumer
      join core.http_trigger_details d on d.trigger_id = p_trigger_id
     where n.namespace = v_trigger.namespace;
    if not v_trigger.enabled or v_met is distinct from p_generation then
        return;
    end if;
    perform core_private.check_payload(p_payload, v_max);
    if v_trigger.mode = 'sync' then
        state := 'revoked';
        if not core_private.trigger_trouble(
                   v_trigger.namespace, v_trigger.kind, v_trigger.registered_by_principal) then
            state := 'asked';
            inbox_id := core.request(
                v_trigger.namespace, v_trigger.target, p_payload,
                p_options || jsonb_build_object('timeout', v_for::text));
        end if;
        return;
    end if;
    select o.* into v_o from core_private.parse_emit_options(p_options, v_now) o;
    state := 'accepted';
    accepted_at := v_now;
    event_uid := gen_random_uuid();
    v_id := case when pg_current_xact_id() is not null then nextval('core.event_id_seq') end;
    perform core_private.deliver_routed(
        v_queue, v_trigger.target,
        core_private.envelope(
            v_trigger.namespace, 'nexus.http', p_payload, v_now, v_id, event_uid, null, null,
            v_o.correlation_id, null, false, null, null, 0)
        || jsonb_build_object('triggerId', v_trigger.trigger_id, 'trigger', v_trigger.name),
        coalesce(v_o.headers, '{}')
            || jsonb_build_object('nexus-retry', core_private.trigger_policy(v_trigger.trigger_id)),
        null, v_now);
    insert into core.event_log (
        event_id, namespace, event_type, payload, emitted_at, metadata, event_uid, correlation_id, depth, headers,
        principal)
    values (
        v_id, v_trigger.namespace, 'nexus.http', p_payload, v_now,
        jsonb_build_object('target', v_trigger.target, 'toTriggers', true), event_uid, v_o.correlation_id, 0,
        v_o.headers, core_private.principal());
end $$;
comment on function core_node.fire_http(uuid, bigint, jsonb, jsonb) is 'For programs that serve triggers of kind http: what one of them does, in the transaction of the caller. state is accepted: logged under event_uid and delivered; asked: a request, whose reply is taken by inbox_id; revoked: the role that created it has lost its right, and nothing is asked; stale: the routes are no more those of p_generation (core_node.http_routes). Options: headers, correlation_id. Raises NX003, NX004, NX005, NX006, NX101, NX110, NX111, NX202, NX212, NX401, NX402, NX601, NX604.';
