-- owner: nexus_guard
-- nexus_guard may do nothing but call handlers, so that code which slips in between the look and the call has no rights
-- of Nexus. That it did not is seen from the row of the function afterwards, and else all of it is undone.
--
-- A handler's SET of search_path outlives the one of its own function and of this one. Until it is pinned again,
-- nothing may be looked up by it, here or in who called.
--
-- A session that is lent is given back with the path that it had, which nobody knows here: so none may be set.
--
-- What the function returns is asked for in the statement that calls it, where the path does not matter yet. Of types
-- that somebody made to_jsonb calls their casts to json, as nexus_guard: these could call the handlers of others.
create or replace function core_private.call_handler(
    p_function oid, p_owner oid, p_event jsonb, p_reply boolean, p_lent boolean = false)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_call   text;
    v_type   oid;
    v_before text;
    v_after  text;
    v_reply  jsonb;
begin
    select format(case when p_reply and p.prorettype <> 'void'::regtype and not p.proretset
                       then 'select to_jsonb(%I.%I($1))' else 'select %I.%I($1)' end, n.nspname, p.proname),
           format('%s %s', p.xmin, p.ctid), p.prorettype
      into v_call, v_before, v_type
      from pg_proc p
      join pg_namespace n on n.oid = p.pronamespace
     where p.oid = p_function and p.proowner = p_owner and p.prosecdef
       and exists (select from unnest(p.proconfig) c where c ^@ 'search_path=');
    if v_call is null then
        raise exception using errcode = 'NX015', column = 'p_function',
            message = 'the function is gone, belongs to another role, is not SECURITY DEFINER or has no search_path '
                || 'of its own',
            hint = 'core.sql_handlers says what is wrong.';
    end if;
    if v_call ^@ 'select to_jsonb('
       and (v_type >= 16384 or exists (select from pg_type t where t.oid = v_type and t.typtype = 'p')) then
        raise exception using errcode = 'NX015', column = 'p_function',
            message = format('function %s returns %s, which is no reply', p_function::regprocedure,
                             format_type(v_type, null)),
            hint = 'Have it return jsonb, or another type of Postgres itself.';
    elsif v_call ^@ 'select to_jsonb(' then
        execute v_call into v_reply using p_event;
    else
        execute v_call using p_event;
    end if;
    if not p_lent then
        perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false);
    elsif pg_catalog.current_setting('search_path') operator(pg_catalog.<>) 'pg_catalog, pg_temp' then
        perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
        raise exception using errcode = 'NX015', column = 'p_function',
            message = format('the function %s set search_path in a session that is not its own',
                             p_function::regprocedure),
            hint = 'Have it use set local, or name all in full.';
    end if;
    select format('%s %s', p.xmin, p.ctid) into v_after from pg_proc p where p.oid = p_function;
    if v_after is distinct from v_before then
        raise exception using errcode = 'NX215', column = 'p_function',
            message = format('the function %s was altered while it ran', p_function::regprocedure),
            hint = 'What it did is undone, and the event is handled again.';
    end if;
    return v_reply;
end $$;
comment on function core_private.call_handler(oid, oid, jsonb, boolean, boolean) is 'Calls an SQL handler, as nexus_guard, if it is still what was subscribed, before the call and after it; returns what it returned, if p_reply asks for that and it is not void. p_lent: the session is that of somebody else, whose search_path stays. Raises NX015, NX215.';
