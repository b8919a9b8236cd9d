-- One lock serialises creation, so that two first users of a name cannot both run pgmq's DDL.
create or replace function core.register_namespace(p_namespace text, p_options jsonb = '{}')
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue text := core.queue_name_for_namespace(p_namespace);
    v_dlq   text := core.dead_letter_queue_name_for_namespace(p_namespace);
    v_other text;
    v_now   timestamptz := core_private.now();
    v_id    integer;
begin
    if not pg_has_role(core_private.caller(), 'nexus_admin', 'member') then
        -- A definer function of an administrator's in somebody's session: he is told what he would be told without it.
        perform core.require_namespace(p_namespace, p_options);
        return false;
    end if;
    perform core_private.refuse_borrowed_session();
    perform core_private.check_namespace_options(p_options);
    perform from core_private.locks l where l.name = 'namespaces' for update;

    if exists (select from core.namespaces n where n.namespace = p_namespace) then
        perform core_private.check_same_options(p_namespace, p_options);
        return core_private.restore_queues(p_namespace) <> '{}';
    end if;
    select q.namespace
      into v_other
      from core.queues q
     where q.queue_name in (v_queue, v_dlq)
     limit 1;
    if found then
        raise exception using errcode = 'NX202', column = 'p_namespace',
            message = format('namespace %s would share the queue %s with namespace %s',
                quote_literal(p_namespace), v_queue, quote_literal(v_other)),
            hint = '"-" and "_" are one in the name of a queue; choose another name.';
    end if;

    insert into core.namespaces (namespace, created_at, updated_at, options)
    values (p_namespace, v_now, v_now, p_options);
    insert into core_private.locks (name)
    values ('namespace ' || p_namespace)
    on conflict do nothing;
    perform core_private.apply_namespace_options(p_namespace, p_options);
    insert into core.consumers (namespace, name, patterns, queue_name, created_at)
    values (p_namespace, 'default', array['*'], v_queue, v_now)
    returning consumer_id into v_id;
    insert into core.queues (queue_name, namespace, consumer_id, created_at)
    values (v_queue, p_namespace, v_id, v_now),
           (v_dlq, p_namespace, null, v_now);
    perform core_private.create_queue(v_queue);
    perform core_private.create_queue(v_dlq);
    return true;
end $$;
comment on function core.register_namespace(text, jsonb) is 'What core.create_namespace does for an administrator; call that. Raises NX001, NX004, NX005, NX007, NX201, NX202, NX401.';
