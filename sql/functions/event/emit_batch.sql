create or replace function core.emit_batch(
    p_namespace text, p_event_types text[], p_payloads jsonb[], p_options jsonb[] = null)
returns table (event_id bigint, event_uid uuid, message_id bigint, duplicate boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now       timestamptz := core_private.now();
    v_n         integer := cardinality(p_event_types);
    v_ns        record;
    v_bytes     bigint;
    v_i         bigint;
begin
    select n.restricted, n.max_payload_bytes into v_ns from core.namespaces n where n.namespace = p_namespace;
    if not found or not core_private.has_duty(p_namespace, 'produce', v_ns.restricted) then
        perform core_private.require_duty(p_namespace, 'produce');
    end if;
    if v_n is null or cardinality(p_payloads) is distinct from v_n
       or (p_options is not null and cardinality(p_options) <> v_n) then
        raise exception using errcode = 'NX006', column = 'p_payloads',
            message = format('the arrays differ in length: %s event types, %s payloads, %s options',
                coalesce(v_n::text, 'no'), coalesce(cardinality(p_payloads)::text, 'no'),
                coalesce(cardinality(p_options)::text, 'no')),
            hint = 'Give one payload for each event type; p_options is NULL or as long.';
    end if;
    if v_n > 10000 then
        raise exception using errcode = 'NX602', column = 'p_event_types',
            message = format('the batch has %s events, at most 10000 are allowed', v_n),
            hint = 'Split it; calls in one transaction still commit together.';
    end if;
    if v_n = 0 then
        return;
    end if;
    -- Most batches are of few types, and the place of a wrong one is looked for when there is one.
    if exists (select from unnest(core_private.distinct_types(p_event_types)) d(t)
                where core_private.is_event_type(d.t) is not true) then
        select u.n
          into v_i
          from unnest(p_event_types) with ordinality u(t, n)
         where core_private.is_event_type(u.t) is not true
         order by u.n limit 1;
        perform core_private.check_event_type(
            p_event_types[array_lower(p_event_types, 1) + v_i - 1], format('p_event_types[%s]', v_i));
    end if;
    select sum(case when u.bytes < 255 then u.bytes
                    else core_private.check_payload(u.p, v_ns.max_payload_bytes, format('p_payloads[%s]', u.n)) end)
      into v_bytes
      from (select x.p, x.n, octet_length(x.p::text) as bytes
              from unnest(p_payloads) with ordinality x(p, n) offset 0) u;
    if v_bytes > 67108864 then
        raise exception using errcode = 'NX603', column = 'p_payloads',
            message = format('the payloads have %s bytes together, at most 67108864 are allowed', v_bytes),
            hint = 'Split the batch.';
    end if;
    return query
        select m.event_id, m.event_uid, m.message_id, m.duplicate
          from core_private.emit_many(p_namespace, p_event_types, p_payloads, p_options, v_now) m;
end $$;
comment on function core.emit_batch(text, text[], jsonb[], jsonb[]) is 'Emits up to 10,000 events of at most 64 MB together, all or none; rows come back in input order. Options as for core.emit, one object an event. Of several events with one dedupe key the first counts. Raises what core.emit raises, and NX006, NX602, NX603; the field names the element.';
