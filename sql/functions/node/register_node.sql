create or replace function core.register_node(p_namespace text, p_node_id text, p_given boolean, p_types text[], p_info jsonb = '{}', p_consumers text[] = null)
returns table (node_id text, incarnation uuid, heartbeat_every interval)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now  timestamptz := core_private.now();
    v_id   text := p_node_id;
    v_n    integer := 1;
    v_row  core.nodes;
    v_inc  uuid := gen_random_uuid();
    v_type text;
    v_foreign boolean;
    v_consumers text[] := coalesce(p_consumers, array(select 'default' from unnest(p_types)));
begin
    -- Not beside a drop of the namespace, which takes its rows in another order.
    perform pg_advisory_xact_lock_shared(hashtext('nexus namespace'), hashtext(p_namespace));
    perform core_private.require_duty(p_namespace, 'consume');
    if p_node_id is null or p_node_id !~ '^[[:graph:]]{1,200}$' then
        raise exception using errcode = 'NX006', column = 'p_node_id', message = format('node id %s cannot be used', coalesce(quote_literal(left(p_node_id, 100)), 'NULL')),
            hint = 'Use 1 to 200 printable characters without blanks.';
    end if;
    if jsonb_typeof(p_info) is distinct from 'object' then
        raise exception using errcode = 'NX006', column = 'p_info', message = 'p_info is no object', hint = 'Give an object.';
    end if;
    foreach v_type in array coalesce(p_types, '{}') loop
        perform core_private.check_pattern(v_type, 'p_types');
    end loop;

    if cardinality(v_consumers) <> coalesce(cardinality(p_types), 0) then
        raise exception using errcode = 'NX006', column = 'p_consumers', message = format('there are %s types and %s consumers', coalesce(cardinality(p_types), 0), cardinality(v_consumers)),
            hint = 'Give one consumer for each type, or leave them out: then all types are those of the consumer default.';
    end if;
    select u.c into v_type from unnest(v_consumers) u(c)
     where cardinality(p_types) > 0 and not exists (select from core.consumers x where x.namespace = p_namespace and x.name = u.c) limit 1;
    if found then
        raise exception using errcode = 'NX102', column = 'p_consumers', message = format('namespace %s has no consumer %s', quote_literal(p_namespace), coalesce(quote_literal(v_type), 'NULL')),
            hint = 'Consumers are listed in core.consumers.';
    end if;

    -- Serialised, so that two newcomers with one name see each other.
    perform pg_advisory_xact_lock(hashtext('nexus'), hashtext('nodes'));
    loop
        select * into v_row from core.nodes n where n.node_id = v_id;
        exit when not found;
        -- A namespace that is closed to the caller keeps its nodes, even those that are gone, and its name to itself.
        v_foreign := v_row.namespace <> p_namespace
                     and (select not core_private.has_duty(n.namespace, 'consume', n.restricted) from core.namespaces n where n.namespace = v_row.namespace);
        if v_foreign and p_given then
            raise exception using errcode = 'NX204', column = 'p_node_id', message = format('node id %s is taken in another namespace', quote_literal(v_id)),
                hint = 'Ids are those of the whole database. Give each node an id of its own, or leave the id out.';
        end if;
        exit when not v_foreign and (v_row.state in ('stopped', 'lost') or v_row.last_heartbeat < v_now - 3 * v_row.heartbeat_every
                                      or core_private.was_killed(v_row, p_info));
        if p_given then
            raise exception using errcode = 'NX204', column = 'p_node_id',
                message = format('node %s is alive in namespace %s', quote_literal(v_id), quote_literal(v_row.namespace)),
                detail = format('Its last heartbeat was at %s; it counts as lost after %s without one.', core_private.iso(v_row.last_heartbeat), 3 * v_row.heartbeat_every),
                hint = format('Give each node an id of its own, or leave the id out. If that one was killed: select core.forget_node(%L); or: nexus-node node forget %s', v_id, v_id);
        end if;
        v_n := v_n + 1;
        v_id := p_node_id || '-' || v_n;
    end loop;

    insert into core.nodes as n (node_id, namespace, display_name, description, metadata, registered_at, last_heartbeat, incarnation, state, version, capabilities, principal, session_pid)
    values (v_id, p_namespace, p_info ->> 'display_name', p_info ->> 'description', p_info - array['display_name', 'description', 'version'], v_now, v_now, v_inc,
            'starting', p_info ->> 'version', jsonb_build_object('event_types', to_jsonb(coalesce(p_types, '{}'))), core_private.principal(), pg_backend_pid())
    on conflict on constraint nodes_pkey do update
       set namespace = excluded.namespace, display_name = excluded.display_name, description = excluded.description, metadata = excluded.metadata,
           registered_at = excluded.registered_at, last_heartbeat = excluded.last_heartbeat, incarnation = excluded.incarnation, state = excluded.state,
           version = excluded.version, capabilities = excluded.capabilities, principal = excluded.principal,
           session_pid = excluded.session_pid, drain_requested_at = null;
    delete from core_private.node_capabilities c where c.node_id = v_id;
    insert into core_private.node_capabilities (node_id, incarnation, kind, consumer, key)
    select distinct v_id, v_inc, 'event_type', u.c, u.t from unnest(p_types, v_consumers) u(t, c);

    -- From now on its queues are searched for what nobody handles. What it handles comes back: a first batch here, then core.unpark.
    insert into core_private.parking (queue_name, seen_at)
    select c.queue_name, v_now from core.consumers c where c.namespace = p_namespace and c.name = any (v_consumers) and c.queue_name is not null order by c.queue_name
    on conflict do nothing;
    perform core.unpark(p_namespace, 1000);
    return query select v_id, v_inc, n.heartbeat_every from core.nodes n where n.node_id = v_id;
end $$;
comment on function core.register_node(text, text, boolean, text[], jsonb, text[]) is 'For nodes: registers under p_node_id, with the event types (patterns) it handles, for the consumer default or for those of p_consumers, which is parallel to p_types; returns its incarnation. A live twin, or any node of a namespace that is closed to the caller, is NX204 if the id was given, else the id is numbered; one of the same login and host whose session is gone was killed and is no twin. Raises NX006, NX008, NX101, NX102, NX204, NX401, NX402.';
