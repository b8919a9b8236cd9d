-- The namespace's row is locked as the foreign key would lock it, but first. So a transaction that drops the
-- namespace is waited for, and afterwards the namespace is reported as unknown.
create or replace function core.schedule_event(
    p_namespace text, p_event_type text, p_payload jsonb, p_at timestamptz, p_options jsonb = '{}')
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_known constant text[] := array[
        'schedule_id', 'tags', 'headers', 'ordering_key', 'correlation_id', 'causation_uid',
        'authored_at', 'producer', 'broadcast', 'depth', 'priority'];
    v_now   timestamptz := core_private.now();
    v_max   integer;
    v_bytes integer;
    v_id    uuid;
    v_due   timestamptz;
    v_hash  bytea;
    v_meta  jsonb;
    v_soon  boolean;
    o       record;
    r       record;
begin
    perform core_private.require_scheduling(p_namespace);
    select n.max_payload_bytes into v_max from core.namespaces n where n.namespace = p_namespace for key share;
    if not found then
        perform core_private.fail_unknown_namespace(p_namespace);
    end if;
    perform core_private.check_event_type(p_event_type);
    v_bytes := core_private.check_payload(p_payload, v_max);
    perform core_private.check_fire_time(p_at, v_now);
    perform core_private.check_option_keys(p_options, v_known);
    if p_options ? 'schedule_id' then
        v_id := core_private.uuid_if_valid(p_options ->> 'schedule_id');
        if v_id is null then
            perform core_private.fail_option(
                'schedule_id', p_options -> 'schedule_id', 'Give a UUID; it becomes the event_uid.');
        end if;
    end if;
    select * into o from core_private.parse_emit_options(p_options - 'schedule_id', v_now);

    v_meta := jsonb_strip_nulls(jsonb_build_object(
        'ordering_key', o.ordering_key, 'producer', o.producer,
        'correlation_id', o.correlation_id, 'causation_uid', o.causation_uid,
        'broadcast', nullif(o.broadcast, false), 'headers', o.headers, 'priority', o.priority));
    v_hash := sha256(convert_to(
        jsonb_build_array(
            p_namespace, p_event_type, p_payload, core_private.iso(p_at), v_meta,
            o.tags, core_private.iso(o.authored_at), o.depth)::text,
        'UTF8'));
    v_due := greatest(p_at, v_now);
    v_soon := v_due < coalesce(core_private.next_scheduled_event_due(), 'infinity');

    if v_id is not null then
        -- An id in a namespace that is closed to the caller neither tells that it is there nor stands in the way.
        select e.status into r
          from core.scheduled_events e
          join core.namespaces n on n.namespace = e.namespace
         where e.schedule_id = v_id and e.namespace <> p_namespace
           and (not n.restricted or core_private.has_duty(n.namespace, 'produce', true)
                or core_private.has_duty(n.namespace, 'operate', true)
                or core_private.has_duty(n.namespace, 'read', true))
         limit 1;
        if found then
            raise exception using errcode = 'NX209', column = 'schedule_id',
                message = format('scheduled event %s exists in another namespace', v_id),
                detail = format('it is %s', r.status),
                hint = 'Use another schedule_id.';
        end if;
    end if;

    for v_round in 1 .. 10 loop
        insert into core.scheduled_events as e (
            schedule_id, namespace, fire_at, due_at,
            event_type, tags, payload, metadata,
            message_timestamp, created_at,
            content_hash, payload_bytes, principal, depth)
        values (
            coalesce(v_id, gen_random_uuid()), p_namespace, p_at, v_due,
            p_event_type, o.tags, p_payload, v_meta,
            coalesce(o.authored_at, v_now), v_now,
            v_hash, v_bytes, core_private.principal(), o.depth)
        on conflict (schedule_id, namespace) do nothing
        returning e.schedule_id into r;
        if found then
            if v_soon then
                perform core_private.wake('timers', v_now);
            end if;
            return r.schedule_id;
        end if;
        select e.content_hash, e.status
          into r
          from core.scheduled_events e
         where e.schedule_id = v_id and e.namespace = p_namespace;
        if found and r.content_hash <> v_hash then
            raise exception using errcode = 'NX209', column = 'schedule_id',
                message = format('scheduled event %s exists with other content', v_id),
                detail = format('it is %s', r.status),
                hint = 'Use another schedule_id, or change the one there is '
                       || 'with core.reschedule_event or core.cancel_scheduled_event.';
        end if;
        if found then
            if r.status in ('cancelled', 'failed') then
                raise notice 'scheduled event % is already %, and stays so', v_id, r.status;
            end if;
            return v_id;
        end if;
        -- The row was there for the insert and is gone for the look: retention took it, or its transaction rolled back.
    end loop;
    raise exception using errcode = '40001',
        message = format('scheduled event %s keeps vanishing', v_id),
        hint = 'Run the transaction again.';
end $$;
comment on function core.schedule_event(text, text, jsonb, timestamptz, jsonb) is 'Emits one event at p_at or soon after, if the caller''s transaction commits; returns its schedule_id, which becomes its event_uid. Options: schedule_id (the same content again is no error and changes nothing; it is one event''s in its namespace), tags, headers, ordering_key, correlation_id, causation_uid, authored_at, producer, broadcast, depth, priority. What core.emit would refuse then is refused now. Raises NX001, NX002, NX003, NX004, NX005, NX006, NX101, NX209, NX401, NX402, NX601, NX604.';
