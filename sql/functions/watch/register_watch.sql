create or replace function core_node.register_watch(
    p_namespace text, p_table regclass, p_collection text, p_options jsonb, p_locked boolean,
    out watch_id bigint, out statements text[], out lock_timeout text)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now   timestamptz := core_private.now();
    v_new   core.watched_tables;
    v_there core.watched_tables;
    v_state record;
begin
    perform core_private.require_duty(p_namespace, 'produce');
    perform core_private.refuse_borrowed_session();
    perform core_private.check_watchable(p_table);
    perform core_private.check_kv_collection(p_collection);
    v_new := core_private.parse_watch(p_table, p_options);
    lock_timeout := extract(epoch from core_private.parse_interval(
        coalesce(p_options -> 'lock_timeout', '"5 s"'), 'lock_timeout', '1 ms', '1 hour')) * 1000 || ' ms';
    select * into v_there from core.watched_tables w where w.relation = p_table for update;
    if found then
        if (v_there.namespace, v_there.collection, v_there.ops, v_there.columns, v_there.key, v_there.unchanged,
            v_there.emit, v_there.replica)
           <> (p_namespace, p_collection, v_new.ops, v_new.columns, v_new.key, v_new.unchanged,
               v_new.emit, v_new.replica) then
            raise exception using errcode = 'NX212', column = 'p_table',
                message = format('table %s is watched with other settings%s', p_table,
                    case when core_private.is_hidden(v_there.namespace) then ''
                         else format(', for collection %s of namespace %s', quote_literal(v_there.collection),
                                     quote_literal(v_there.namespace)) end),
                hint = format('End that first: select core.unwatch_table(%L);', p_table);
        end if;
        select * into v_state from core_private.watch_state(v_there.watch_id);
        if v_state.missing = '{}' and v_state.switched_off = '{}' and v_state.altered = '{}' then
            watch_id := v_there.watch_id;
            return;
        end if;
    end if;
    if not p_locked then
        return;
    end if;
    if v_there.watch_id is null then
        if exists (select from pg_trigger t
                    where t.tgrelid = p_table and not t.tgisinternal and starts_with(t.tgname, 'nexus_watch_')
                      and t.tgfoid <> all (array['core_node.note_rows()'::regprocedure,
                                                 'core_node.note_row()'::regprocedure,
                                                 'core_node.note_truncate()'::regprocedure])) then
            raise exception using errcode = 'NX017', column = 'p_table',
                message = format('table %s cannot be watched: it has a trigger nexus_watch_... that is not of Nexus',
                                 p_table),
                hint = 'Such a name would be taken: rename it.';
        end if;
        insert into core.watched_tables (
            namespace, relation, collection, ops, columns, key, unchanged, emit, replica, by_row,
            registered_by_principal, registered_by, created_at)
        values (
            p_namespace, p_table, p_collection, v_new.ops, v_new.columns, v_new.key, v_new.unchanged, v_new.emit,
            v_new.replica, v_new.by_row,
            (select r.oid::regrole from pg_roles r where r.rolname = core_private.caller()), core_private.principal(),
            v_now)
        returning * into v_there;
        perform core_private.audit('watch_table', p_namespace, p_table::text, null, jsonb_build_object(
            'collection', p_collection, 'options', p_options, 'watch_id', v_there.watch_id));
    end if;
    watch_id := v_there.watch_id;
    statements := array(
        select format('create or replace trigger %I after %s on %s %s execute function core_node.%s(%L)',
                      t.name, t.event, p_table, t.how, t.function, v_there.watch_id)
          from core_private.watch_triggers(v_there) t)
        || case when v_there.replica then array(
        select format('alter table %s enable always trigger %I', p_table, t.name)
          from core_private.watch_triggers(v_there) t) else array(
        select format('alter table %s enable trigger %I', p_table, t.name)
          from core_private.watch_triggers(v_there) t) end;
end $$;
comment on function core_node.register_watch(text, regclass, text, jsonb, boolean) is 'The part of core.watch_table that takes no owner of the table: the number of the watch where all is in its place, else, with the table locked, what its owner has to execute. Raises 42501, NX004, NX005, NX017, NX016, NX101, NX212, NX401, NX402.';
