-- A restricted namespace in which the caller has no duty is one that is not there: the answer is the same.
create or replace function core.require_namespace(p_namespace text, p_options jsonb = '{}')
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_admin boolean := pg_has_role(core_private.caller(), 'nexus_admin', 'member');
    v_lost  text;
begin
    perform core_private.refuse_borrowed_session();
    perform core_private.check_namespace_name(p_namespace);
    perform core_private.check_namespace_options(p_options);
    if not exists (select from core.namespaces n where n.namespace = p_namespace)
       or core_private.is_hidden(p_namespace) then
        if v_admin then
            perform core_private.fail_unknown_namespace(p_namespace);
        end if;
        perform core_private.fail_uncreated(p_namespace, p_options,
            format('role %I may not create namespaces, and has none named %s',
                core_private.caller(), quote_literal(p_namespace)),
            true);
    end if;
    perform core_private.check_same_options(p_namespace, p_options);
    select q.queue_name
      into v_lost
      from core.queues q
     where q.namespace = p_namespace and q.dropped_at is null
       and core_private.missing_parts(q.queue_name) <> '{}'
     limit 1;
    if found then
        if v_admin then
            perform core_private.fail_lost_queue(v_lost);
        end if;
        perform core_private.fail_uncreated(p_namespace, p_options,
            format('queue tables of namespace %s are missing, and role %I may not make them again',
                quote_literal(p_namespace), core_private.caller()),
            false);
    end if;
end $$;
comment on function core.require_namespace(text, jsonb) is 'Raises unless the namespace is there for the caller, has its queues, and the options given are those in force. For programs that are to find their namespace set up; whoever may not create one hears from core.create_namespace what this says. Raises NX001, NX004, NX005, NX007, NX101, NX110, NX201, NX401, 42501 where the session is not the caller''s own.';
