create or replace function core_node.register_node(
    p_namespace text, p_node_id text, p_given boolean, p_types text[],
    p_info jsonb = '{}', p_consumers text[] = null)
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
    v_patience text := current_setting('lock_timeout');
    v_foreign boolean;
    v_consumers text[] := coalesce(p_consumers, array(select 'default' from unnest(p_types)));
begin
    perform core_private.require_duty(p_namespace, 'consume');
    -- Not beside a drop of the namespace, which takes its rows in another order.
    perform core_private.lock_namespace(p_namespace, false);
    perform core_private.require_duty(p_namespace, 'consume');
    if p_node_id is null or p_node_id !~ '^[[:graph:]]{1,200}$' then
        raise exception using errcode = 'NX006', column = 'p_node_id',
            message = format('node id %s cannot be used', coalesce(quote_literal(left(p_node_id, 100)), 'NULL')),
            hint = 'Use 1 to 200 printable characters without blanks.';
    end if;
    perform core_private.check_node_info(p_info);
    perform core_private.check_capabilities(p_namespace, p_types, v_consumers);

    -- The row is the lock: two newcomers with one name see each other. Whoever leaves one in an open transaction keeps
    -- an id, no more. The table first: who locks all of it has no id, and another id would wait for him as well.
    perform set_config('lock_timeout', '3s', true);
    lock table core.nodes in row exclusive mode;
    loop
        v_foreign := false;
        begin
            perform set_config('lock_timeout', '3s', true);
            insert into core.nodes (node_id, namespace, registered_at, last_heartbeat, incarnation, state)
            values (v_id, p_namespace, v_now, v_now, v_inc, 'starting')
            on conflict do nothing;
            exit when found;
            -- A namespace that is closed to the caller keeps its nodes, even those that are gone, and its name to
            -- itself.
            select n.namespace <> p_namespace and not core_private.has_duty(n.namespace, 'consume', s.restricted)
              into v_foreign
              from core.nodes n
              join core.namespaces s on s.namespace = n.namespace
             where n.node_id = v_id;
            continue when not found;
            if not v_foreign then
                select * into v_row from core.nodes n where n.node_id = v_id for no key update;
                exit when found
                          and (v_row.state in ('stopped', 'lost')
                               or v_row.last_heartbeat < v_now - 3 * v_row.heartbeat_every
                               or core_private.was_killed(v_row, p_info));
            end if;
        exception when lock_not_available then
            v_foreign := null;
        end;
        if v_foreign is null and p_given then
            raise exception using errcode = 'NX204', column = 'p_node_id',
                message = format('node id %s is taken by a transaction that has not ended', quote_literal(v_id)),
                hint = 'Somebody else registers under it, or left a transaction open that did: '
                    || 'select * from core.blockers.';
        end if;
        if v_foreign and p_given then
            raise exception using errcode = 'NX204', column = 'p_node_id',
                message = format('node id %s is taken in another namespace', quote_literal(v_id)),
                hint = 'Ids are those of the whole database. Give each node an id of its own, or leave the id out.';
        end if;
        if p_given then
            raise exception using errcode = 'NX204', column = 'p_node_id',
                message = format('node %s is alive in namespace %s',
                    quote_literal(v_id), quote_literal(v_row.namespace)),
                detail = format('Its last heartbeat was at %s; it counts as lost after %s without one.',
                    core_private.iso(v_row.last_heartbeat), 3 * v_row.heartbeat_every),
                hint = format('Give each node an id of its own, or leave the id out. If that one was killed: '
                    || 'select core.forget_node(%L); or: nexus-node node forget %s', v_id, v_id);
        end if;
        v_n := v_n + 1;
        v_id := p_node_id || '-' || v_n;
    end loop;
    -- The life of before, if this is not the first one.
    perform core_private.end_leases_of_nodes(array[v_id], v_now);
    update core.nodes n
       set namespace = p_namespace,
           display_name = p_info ->> 'display_name', description = p_info ->> 'description',
           metadata = p_info - array['display_name', 'description', 'version', 'gone'],
           registered_at = v_now, last_heartbeat = v_now,
           incarnation = v_inc, state = 'starting', version = p_info ->> 'version',
           principal = core_private.principal(), session_pid = pg_backend_pid(),
           drain_requested_at = null
     where n.node_id = v_id;
    perform core_private.begin_broadcasts(p_namespace, v_id, p_info -> 'broadcasts', v_now);
    perform core_private.put_capabilities(v_id, v_inc, p_namespace, p_types, v_consumers, '{}');
    perform set_config('lock_timeout', v_patience, true);
    return query
        select v_id, v_inc, n.heartbeat_every
          from core.nodes n
         where n.node_id = v_id;
end $$;
comment on function core_node.register_node(text, text, boolean, text[], jsonb, text[]) is 'For nodes: registers under p_node_id, with the event types (patterns) it handles, for the consumer default or for those of p_consumers, which is parallel to p_types; returns its incarnation. A live twin, or any node of a namespace that is closed to the caller, is NX204 if the id was given, else the id is numbered; one of the same login and host whose session is gone was killed and is no twin, nor is one whose process the caller found gone (core_node.node_process). Lanes that an earlier life under the id holds are free with that. With p_info.broadcasts, an array of patterns, it has a cursor over the broadcasts of its namespace, or goes on with the one it had. Raises NX006, NX008, NX101, NX102, NX204, NX401, NX402.';
